/** For tests in other folders: the package is installed for this folder alone. */
export { default as OpenAI } from 'openai'
