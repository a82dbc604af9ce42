import { describe, expect, test } from 'vitest'
import { argsOfStart, startOfArgs } from '../../../src/domain/graphql/start-script.ts'
import { decodeArgs } from '../../../src/domain/resources/container.ts'

const argsOf = (startScript: string, dockerArgs = '') => {
  const made = argsOfStart({ startScript, dockerArgs })
  return made.ok ? decodeArgs(made.body) : made.detail
}

describe('[GQL-43] a start script', () => {
  test.for([
    ['echo hi', ['/bin/sh']],
    ['#!/bin/bash\necho hi', ['/bin/bash']],
    ['#!/usr/bin/env bash\r\necho hi', ['/usr/bin/env', 'bash']],
    ['#! /bin/sh -e\necho hi', ['/bin/sh', '-e']],
    ['#!/bin/dash', ['/bin/dash']],
  ] as const)('%j is run by %j', ([script, shell]) => {
    expect(argsOf(script)).toEqual({ entrypoint: [...shell, '-c', script, 'startScript'], cmd: [] })
  })

  test('text that is no shell script is refused with its position', () => {
    for (const line of ['#!/usr/bin/python3', '#!/usr/bin/env node', '#!/usr/bin/env', '#!/bin/sh x'])
      expect(argsOf(line)).toMatch(/^\$\.startScript: its first line is not a shell/)
  })

  test.for([
    ['', ''],
    ['serve --port 80', 'serve --port 80'],
    [`say 'it''s' "two words" ''`, `say its 'two words' ''`],
    ['{"entrypoint":["a"],"cmd":["b c"]}', `a 'b c'`],
  ] as const)('dockerArgs %j is split into its arguments', ([dockerArgs, read]) => {
    const made = argsOfStart({ startScript: 'exec "$@"', dockerArgs })
    expect(made.ok && startOfArgs(made.body)).toEqual({ startScript: 'exec "$@"', dockerArgs: read })
  })

  test.for(['', 'sleep 1', '{"entrypoint":["/bin/sh","-c","x"]}', '{"entrypoint":["/bin/bash","-c","x","startScript"]}'])(
    'the command %j is invalid',
    (args) => {
      expect(startOfArgs(args)).toEqual({ dockerArgs: args, startScript: '' })
    },
  )
})
