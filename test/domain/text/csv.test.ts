import { formatCsv } from '../../../src/domain/text/csv.ts'
import { describe, expect, it } from '../../support/unit.ts'

const line = (cell: string | number | null) => formatCsv(['a'], [{ a: cell }]).split('\r\n')[1]

describe('CSV', () => {
  it('[BIL-15] has a line of names, a line a row and CRLF after each', () => {
    expect(
      formatCsv(
        ['a', 'b'],
        [
          { a: 'x', b: 1 },
          { a: null, b: 0.5 },
        ],
      ),
    ).toBe('a,b\r\nx,1\r\n,0.5\r\n')
    expect(formatCsv(['a', 'b'], [])).toBe('a,b\r\n')
  })

  it('[BIL-15] quotes characters that would end a cell, according to RFC 4180', () => {
    expect(line('a,b')).toBe('"a,b"')
    expect(line('say "x"')).toBe('"say ""x"""')
    expect(formatCsv(['a'], [{ a: 'x\r\ny' }])).toBe('a\r\n"x\r\ny"\r\n')
  })

  it('[BIL-15] has no cell that a spreadsheet would run', () => {
    for (const start of ['=', '+', '-', '@', '\t', '\r']) expect(formatCsv(['a'], [{ a: `${start}1+1` }])).toMatch(/^a\r\n"?'/)
    expect(line('=HYPERLINK("x")')).toBe('"\'=HYPERLINK(""x"")"')
  })

  it('[BIL-15] writes numbers without exponents', () => {
    expect(line(0.000001)).toBe('0.000001')
    expect(line(0.000000001)).toBe('0.000000001')
    expect(line(0.000000012)).toBe('0.000000012')
    expect(line(1_234_567.891)).toBe('1234567.891')
    expect(line(0)).toBe('0')
  })
})
