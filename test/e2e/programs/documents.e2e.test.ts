import { globSync } from 'node:fs'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { PROJECT_ROOT } from '../../../src/local/paths.ts'
import { type CommandBlock, printedPattern, readCommandBlocks } from '../../support/http/document-blocks.ts'
import { BUILD_TIMEOUT_MS, pythonClient } from '../support/agent/worker-image.ts'
import { DocumentShell } from '../support/clients/document-shell.ts'
import { startPlane, type TestPlane } from '../support/plane/plane.ts'

// Every command of the documents, as printed there, against one plane. The examples have a test of their own.

/** Generated from the help texts of the commands; test/local/cli verifies it. */
const GENERATED = 'docs/cli.md'
const DOCUMENTS = globSync(['*.md', 'docs/*.md'], { cwd: PROJECT_ROOT })
  .filter((name) => name !== GENERATED)
  .toSorted()
/** The arguments with which README.md starts the plane for its pod. */
const START_ARGS = ['--simulate-gpus', 'NVIDIA L4:2']

let plane: TestPlane
beforeAll(async () => {
  await pythonClient()
  plane = await startPlane({ args: START_ARGS })
}, BUILD_TIMEOUT_MS)
afterAll(() => plane?.stop())

const documents = DOCUMENTS.map((name) => ({ name, blocks: readCommandBlocks(name) }))

describe.each(documents.filter(({ blocks }) => blocks.some(isRun)))('$name', ({ blocks }) => {
  let shell: DocumentShell
  beforeAll(() => {
    shell = new DocumentShell(plane)
  })
  afterAll(() => shell.stop())

  test.for(blocks.filter(isRun).map((block) => ({ title: `${block.place} ${block.text.split('\n')[0]}`, block })))(
    '$title',
    async ({ block }, { expect }) => {
      const { output, expected } = await shell.run(block)
      if (expected !== undefined) expect(output).toMatch(printedPattern(expected))
    },
  )
})

test('each block that is not run here states the reason', ({ expect }) => {
  const left = documents.flatMap(({ blocks }) => blocks.filter((block) => !isRun(block)))
  for (const { place, notRun } of left) process.stdout.write(`not run: ${place}: ${notRun}\n`)
  // Most of a page about a deployment needs an account of the reader's own.
  expect(left.length).toBeLessThan(documents.flatMap(({ blocks }) => blocks).length / 2)
})

function isRun({ notRun }: CommandBlock): boolean {
  return notRun === undefined
}
