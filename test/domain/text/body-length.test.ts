import { announcedBytes } from '../../../src/domain/text/body-length.ts'
import { describe, expect, it } from '../../support/unit.ts'

describe('announcedBytes', () => {
  const of = (headers: Record<string, string>) => announcedBytes(new Headers(headers))

  it('[LIM-2, RATE-6] is the length that a body was announced with', () => {
    expect([of({ 'content-length': '0' }), of({ 'content-length': '10485761' })]).toEqual([0, 10_485_761])
  })

  it('[LIM-2, RATE-6] is unknown without a length, with one that is no number, and for a chunked body whatever it says', () => {
    const chunked = { 'content-length': '10', 'transfer-encoding': 'chunked' }
    expect([of({}), of({ 'content-length': '-1' }), of({ 'content-length': '1e9' }), of(chunked)]).toEqual([null, null, null, null])
  })
})
