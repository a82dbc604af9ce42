import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { cliDocument } from '../../../src/cli/document.ts'
import { buildProgram } from '../../../src/cli/program.ts'
import { describe, expect, it } from '../../support/unit.ts'

const every = (command: Command): Command[] => [command, ...command.commands.flatMap(every)]

describe('docs/cli.md', () => {
  it('[DEV-3] is generated from the program (npm run generate)', () => {
    expect(readFileSync('docs/cli.md', 'utf8')).toBe(cliDocument())
  })

  it('[DEV-3] has every command that is not hidden, each with a description', () => {
    const document = cliDocument()
    const hidden = new Set(['__complete', 'podplane'])
    const commands = every(buildProgram()).filter((command) => !hidden.has(command.name()))
    expect(commands.filter((command) => command.description() === '').map((command) => command.name())).toEqual([])
    const leaves = commands.filter((command) => command.commands.length === 0)
    expect(leaves.filter((command) => !document.includes(` ${command.name()}`)).map((command) => command.name())).toEqual([])
  })
})
