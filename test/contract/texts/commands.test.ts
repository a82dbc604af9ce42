import { globSync } from 'node:fs'
import { printedPattern, readCommandBlocks, valuesOf } from '../../support/http/document-blocks.ts'
import { describe, expect, it } from '../../support/unit.ts'

describe('commands of the documents', () => {
  it.each(globSync(['*.md', 'docs/*.md', 'examples/*/*.md']).toSorted())(
    '%s states the kind of each block and whether it is run',
    (document) => {
      for (const { place, text, notRun } of readCommandBlocks(document)) {
        // zsh does not accept a comment at the end of a pasted line.
        if (notRun === undefined) expect(text, place).not.toMatch(/(?:^|\s)# /m)
      }
    },
  )
})

describe('the output of a command', () => {
  const PRINTED = '{"id":"<job>", …,"cost":0.44}\n'

  it('may differ where the document says so, and nowhere else', () => {
    expect('{"id":"a1","status":"X","cost":0.44}').toMatch(printedPattern(PRINTED))
    for (const output of ['{"id":"","x":1,"cost":0.44}', '{"id":"a1","x":1,"cost":0.45}', '{"id":"a1","x":1,"cost":0.44} more']) {
      expect(output).not.toMatch(printedPattern(PRINTED))
    }
    expect('{"a":"1","b":"1"}').toMatch(printedPattern('{"a":"<x>","b":"<x>"}'))
    expect('{"a":"1","b":"2"}').not.toMatch(printedPattern('{"a":"<x>","b":"<x>"}'))
  })

  it('gives placeholders their values', () => {
    expect([...valuesOf('{"id":"<my job>",…}', '{"id":"a1","x":2}')]).toEqual([['my job', 'a1']])
  })
})
