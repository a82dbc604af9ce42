import type { Command } from 'commander'
import { buildProgram } from '../../../../src/cli/program.ts'
import { afterEach, describe, expect, it } from '../../../support/unit.ts'
import { podplane, ToyPlane } from '../terminal.ts'

const POD = 'a1b2c3d4e5f6g7'

let plane: ToyPlane | undefined
afterEach(async () => await plane?.close())

const everyCommand = (command: Command): Command[] => [command, ...command.commands.flatMap(everyCommand)]
const pathOf = (command: Command): string[] => (command.parent === null ? [] : [...pathOf(command.parent), command.name()])

/** Each command line that names a duration, with this text in its place. */
function linesWith(text: string): string[][] {
  return everyCommand(buildProgram()).flatMap((command) => {
    const words = (isLast: (name: string) => boolean) =>
      command.registeredArguments.filter(({ required }) => required).map((one) => (isLast(one.name()) ? text : POD))
    const flags = command.options.filter(({ flags }) => flags.includes('<duration>'))
    const takesOne = command.registeredArguments.some((one) => isDuration(one.name()))
    const path = command.parent === null ? ['pods', 'list'] : pathOf(command)
    return [
      ...flags.map(({ long }) => [...path, ...words(() => false), `${long}`, text]),
      ...(takesOne ? [[...path, ...words(isDuration)]] : []),
    ]
  })
}

const isDuration = (argument: string) => argument === 'duration'

describe('[CMD-64] a duration without its unit', () => {
  it('is exit code 2 wherever a command takes one, and changes nothing', async () => {
    const toy = await ToyPlane.open({})
    plane = toy
    const lines = linesWith('5')
    const names = lines.map((line) => line.slice(0, 2).join(' '))
    for (const known of ['pods stop-after', 'pods idle-stop', 'pods create', 'spend stop', 'pods list']) expect(names).toContain(known)
    for (const line of lines) expect({ line, ...(await podplane(line, { plane: toy })) }).toMatchObject({ line, code: 2 })
    expect(toy.asked.filter(({ method }) => method !== 'GET')).toEqual([])
  })
})
