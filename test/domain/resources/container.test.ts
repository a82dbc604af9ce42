import { decodeArgs, encodeArgs, mergeArgs, splitWords } from '../../../src/domain/resources/container.ts'
import { describe, expect, it } from '../../support/unit.ts'

describe('splitting', () => {
  const cases: [string, string[]][] = [
    ['', []],
    ['   ', []],
    ['python -u handler.py', ['python', '-u', 'handler.py']],
    ['  a\tb\n c ', ['a', 'b', 'c']],
    ['bash -c \'echo "hi" $HOME\'', ['bash', '-c', 'echo "hi" $HOME']],
    ['a "b c" d', ['a', 'b c', 'd']],
    ['say "it\'s"', ['say', "it's"]],
    ['a\\ b', ['a b']],
    ['"a\\"b" "c\\\\d" "e\\nf"', ['a"b', 'c\\d', 'e\\nf']],
    ["'a\\b'", ['a\\b']],
    ["''", ['']],
    ['a""b', ['ab']],
    ['a\\\nb', ['ab']],
    ['end\\', ['end\\']],
    ["'open", ['open']],
    ['$(rm) `x` *', ['$(rm)', '`x`', '*']],
  ]
  for (const [text, words] of cases) {
    it(`[CON-1] ${JSON.stringify(text)}`, () => expect(splitWords(text)).toEqual(words))
  }
})

describe('stored form', () => {
  it('[CON-1] a JSON object with only entrypoint and/or cmd is the exec form', () => {
    expect(decodeArgs('{"entrypoint":["a"],"cmd":["b","c"]}')).toEqual({ entrypoint: ['a'], cmd: ['b', 'c'] })
    expect(decodeArgs(' {"cmd":["b"]}')).toEqual({ entrypoint: [], cmd: ['b'] })
  })

  it('[CON-1] any other JSON is a shell string', () => {
    for (const text of ['{}', '{"cmd":"b"}', '{"cmd":[1]}', '{"cmd":["b"],"x":[]}', '["a"]', '{"cmd":']) {
      expect(decodeArgs(text), text).toEqual({ entrypoint: [], cmd: splitWords(text) })
    }
  })

  it('[CON-2] is compact JSON, entrypoint first, absent ones left out', () => {
    expect(encodeArgs({ cmd: ['b'], entrypoint: ['a'] })).toBe('{"entrypoint":["a"],"cmd":["b"]}')
    expect(encodeArgs({ cmd: ['b'], entrypoint: [] })).toBe('{"cmd":["b"]}')
    expect(encodeArgs({ cmd: [], entrypoint: [] })).toBe('')
  })

  it('[CON-2] decoding what was encoded gives the same command', () => {
    const command = { entrypoint: ['/bin/sh', '-c'], cmd: ['echo "x" \'y\' \\z', ''] }
    expect(decodeArgs(encodeArgs(command))).toEqual(command)
  })
})

describe('merging', () => {
  it('[CON-3][REST-6] args with equal cmd and entrypoint passes and keeps the text', () => {
    expect(mergeArgs('', { args: 'python "a b"', cmd: ['python', 'a b'], entrypoint: [] })).toBe('python "a b"')
  })

  it('[CON-3] args with another command is refused', () => {
    expect(mergeArgs('', { args: 'python a', cmd: ['python', 'b'] })).toBeNull()
    expect(mergeArgs('', { args: 'python a', cmd: ['python', 'a'], entrypoint: ['sh'] })).toBeNull()
    expect(mergeArgs('', { args: '', cmd: ['x'] })).toBeNull()
  })

  it('[CON-4] naming one keeps the other; an empty list clears its own part; empty args clears both', () => {
    const current = '{"entrypoint":["a"],"cmd":["b"]}'
    expect(mergeArgs(current, { cmd: ['c'] })).toBe('{"entrypoint":["a"],"cmd":["c"]}')
    expect(mergeArgs(current, { cmd: [] })).toBe('{"entrypoint":["a"]}')
    expect(mergeArgs(current, { entrypoint: [] })).toBe('{"cmd":["b"]}')
    expect(mergeArgs(current, { cmd: [], entrypoint: [] })).toBe('')
    expect(mergeArgs(current, { args: '' })).toBe('')
    expect(mergeArgs(current, {})).toBe(current)
  })

  it('[CON-4] a shell string becomes exec form when only its entrypoint is named', () => {
    expect(mergeArgs('python a.py', { entrypoint: ['tini', '--'] })).toBe('{"entrypoint":["tini","--"],"cmd":["python","a.py"]}')
  })
})
