import { requireDocker } from './docker.ts'

/** Global set-up of the end-to-end tests: without an engine they fail at once. */
export default requireDocker
