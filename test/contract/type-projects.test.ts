import { execFile } from 'node:child_process'
import { globSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import { TYPE_PROJECTS } from '../../scripts/type-projects.ts'
import { expect, it } from '../support/unit.ts'

const ROOT = resolve(import.meta.dirname, '../..')

/** Projects that another program compiles, and which. */
const COMPILED_ELSEWHERE: Readonly<Record<string, string>> = {
  'sdk/tsconfig.json': 'scripts/sdk.ts, with the generated client',
  'test/e2e/clients/typescript/tsconfig.json': 'test/e2e/clients/rest-clients.e2e.test.ts, with the generated client',
}
/** Projects that only editors read. Another project must have their files. */
const FOR_EDITORS: readonly string[] = ['src/cli/tsconfig.json']
const COMPILED = [...TYPE_PROJECTS, ...Object.keys(COMPILED_ELSEWHERE)]

/** Sources that no project includes, each with the reason. */
const WITHOUT_PROJECT: Readonly<Record<string, string>> = {
  'sdk/openapi-ts.config.ts': 'its types come with the generator, a package that npm ci does not install',
}

/** Files that match a pattern, except installed and generated ones. */
const find = (pattern: string) =>
  globSync(pattern, { cwd: ROOT, exclude: ['**/node_modules', '**/dist', '**/generated', '**/.*'] }).toSorted()

/** Files that the patterns of a project include. Imports add more, but a file that only they add would be lost with them. */
async function filesOf(project: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)(join(ROOT, 'node_modules/.bin/tsc'), ['-p', project, '--showConfig'], { cwd: ROOT })
  const { files }: { files: string[] } = JSON.parse(stdout)
  return files.map((file) => relative(ROOT, resolve(ROOT, dirname(project), file)))
}

it('every tsconfig.json of the repository is compiled, or is for editors', () => {
  expect(find('**/tsconfig.json')).toEqual([...COMPILED, ...FOR_EDITORS].toSorted())
})

it('every TypeScript file is in a project, so that its types are checked', async () => {
  const included = new Set<string>()
  for (const project of COMPILED) for (const file of await filesOf(project)) included.add(file)
  const sources = find('**/*.{ts,tsx}')
  expect(sources.length).toBeGreaterThan(2_000)
  expect(sources.filter((file) => !included.has(file))).toEqual(Object.keys(WITHOUT_PROJECT).toSorted())
})
