const BLOCK = 512
const FILE_MODE = '0000600'

/** Builds a tar archive (ustar) of texts by name; a name has at most 100 bytes. */
export function tarOf(files: Readonly<Record<string, string>>, nowMs: number): Buffer {
  const parts = Object.entries(files).flatMap(([name, text]) => {
    const body = Buffer.from(text)
    return [headerOf(name, body.length, nowMs), body, Buffer.alloc((BLOCK - (body.length % BLOCK)) % BLOCK)]
  })
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)])
}

function headerOf(name: string, size: number, nowMs: number): Buffer {
  const header = Buffer.alloc(BLOCK)
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0')
  header.write(name, 0, 100)
  header.write(FILE_MODE, 100)
  header.write(octal(0, 7), 108)
  header.write(octal(0, 7), 116)
  header.write(octal(size, 11), 124)
  header.write(octal(Math.floor(nowMs / 1_000), 11), 136)
  header.write('        0', 148)
  header.write('ustar\u000000', 257)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${octal(sum, 6)}\u0000 `, 148)
  return header
}
