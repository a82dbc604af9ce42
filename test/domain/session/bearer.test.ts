import { MAX_TOKEN_CHARS, readBearer } from '../../../src/domain/session/bearer.ts'
import { describe, expect, it } from '../../support/unit.ts'

const tokenOf = (chars: number) => `eyJ.eyJ.${'x'.repeat(chars - 8)}`

describe('[ERR-8][OIDC-2] an Authorization header', () => {
  it.each([
    [null, { kind: 'NONE' }],
    ['', { kind: 'NONE' }],
    ['Bearer', { kind: 'NONE' }],
    ['Basic x', { kind: 'NONE' }],
    ['Bearer a b', { kind: 'NONE' }],
    ['Bearer pp_x', { kind: 'KEY', text: 'pp_x' }],
    ['bEARER   pp_x ', { kind: 'KEY', text: 'pp_x' }],
    ['Bearer ..', { kind: 'KEY', text: '..' }],
    ['Bearer a.b', { kind: 'KEY', text: 'a.b' }],
    ['Bearer a.b.', { kind: 'TOKEN', text: 'a.b.' }],
    ['Bearer a.b.c', { kind: 'TOKEN', text: 'a.b.c' }],
    ['Bearer a.b.c.d', { kind: 'KEY', text: 'a.b.c.d' }],
    ['Bearer a.b.c=', { kind: 'KEY', text: 'a.b.c=' }],
    [`Bearer ${'k'.repeat(505)}`, { kind: 'KEY', text: 'k'.repeat(505) }],
    [`Bearer ${'k'.repeat(506)}`, { kind: 'NONE' }],
    [`Bearer ${tokenOf(MAX_TOKEN_CHARS)}`, { kind: 'TOKEN', text: tokenOf(MAX_TOKEN_CHARS) }],
    [`Bearer ${tokenOf(MAX_TOKEN_CHARS + 1)}`, { kind: 'TOO_LONG' }],
    [`Bearer ${'k'.repeat(MAX_TOKEN_CHARS + 1)}`, { kind: 'NONE' }],
  ])('%.40s', (header, bearer) => {
    expect(readBearer(header)).toEqual(bearer)
  })
})
