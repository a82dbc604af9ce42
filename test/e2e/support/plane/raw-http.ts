import { connect } from 'node:net'

/** The data received on a connection of its own until it ends or no more data arrives for `idleMs`. */
export function sendRaw(port: number, text: string, idleMs = 2_000): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let answer = ''
    socket.setTimeout(idleMs, () => socket.destroy())
    socket.on('data', (data) => {
      answer += data
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(answer))
    socket.write(text)
  })
}

/** The statuses of the answers on a connection. */
export const statusesOf = (answers: string): number[] =>
  [...answers.matchAll(/HTTP\/1\.[01] (\d{3}) /g)].map(([, status]) => Number(status))

const BODY = '{"input":{}}'
const END = '0\r\n\r\n'
const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`
const length = (text: string) => `content-length: ${text.length}`
const chunked = (lines: string) => (hidden: string) => {
  const body = chunk(BODY) + END + hidden
  return { lines: lines.replace('LENGTH', length(body)), body }
}
/** The length covers all of it; a reader with another framing sees a request in it. */
const covered = (lines: string) => (hidden: string) => {
  const body = BODY + hidden
  return { lines: lines.replace('LENGTH', length(body)), body }
}

/**
 * Header lines and a body of one POST, in which another request is hidden that some reader between client and worker may take for the
 * next.
 */
export const FRAMINGS: readonly [what: string, of: (hidden: string) => { lines: string; body: string }][] = [
  ['a request in the body', covered('LENGTH')],
  ['a request in a chunk', (hidden) => ({ lines: 'transfer-encoding: chunked', body: chunk(BODY + hidden) + END })],
  ['a length and chunks', chunked('LENGTH\r\ntransfer-encoding: chunked')],
  ['chunks and a length', chunked('transfer-encoding: chunked\r\nLENGTH')],
  ['chunks and a length that ends before', () => ({ lines: 'transfer-encoding: chunked\r\ncontent-length: 4', body: chunk(BODY) + END })],
  ['two lengths', covered(`content-length: ${BODY.length}\r\nLENGTH`)],
  ['two lengths, the longer one first', covered(`LENGTH\r\ncontent-length: ${BODY.length}`)],
  [
    'two lengths in one line',
    (hidden) => ({ lines: `content-length: ${BODY.length}, ${BODY.length + hidden.length}`, body: BODY + hidden }),
  ],
  ['a length with a sign', (hidden) => ({ lines: `content-length: +${BODY.length}`, body: BODY + hidden })],
  ['a length in hexadecimal', (hidden) => ({ lines: 'content-length: 0xc', body: BODY + hidden })],
  ['an encoding that is none', chunked('LENGTH\r\ntransfer-encoding: xchunked')],
  ['chunks twice', chunked('LENGTH\r\ntransfer-encoding: chunked\r\ntransfer-encoding: chunked')],
  ['chunks twice in one line', chunked('LENGTH\r\ntransfer-encoding: chunked, chunked')],
  ['chunks that are compressed', chunked('LENGTH\r\ntransfer-encoding: gzip, chunked')],
  ['chunks and none', chunked('LENGTH\r\ntransfer-encoding: chunked\r\ntransfer-encoding: identity')],
  ['a space before the colon', chunked('LENGTH\r\nTransfer-Encoding : chunked')],
  ['a tab before the value', chunked('LENGTH\r\nTransfer-Encoding:\tchunked')],
  ['a vertical tab before the value', chunked('LENGTH\r\nTransfer-Encoding:\u000bchunked')],
  ['a quoted value', chunked('LENGTH\r\nTransfer-Encoding: "chunked"')],
  ['a folded line', chunked('LENGTH\r\ntransfer-encoding:\r\n chunked')],
  ['a header in a folded line', chunked('LENGTH\r\nx-a: b\r\n transfer-encoding: chunked')],
  ['a line that ends in LF alone', chunked('LENGTH\r\nx-a: b\ntransfer-encoding: chunked')],
  ['a line that ends in CR alone', chunked('LENGTH\r\nx-a: b\rtransfer-encoding: chunked')],
  ['a NUL in a header', covered('LENGTH\r\nx-a: b\0c')],
  ['a header without a name', covered('LENGTH\r\n: chunked')],
  [
    'a chunk with an extension that holds LF',
    (hidden) => ({ lines: 'transfer-encoding: chunked', body: `c;a\nb\r\n${BODY}\r\n${END}${hidden}` }),
  ],
  [
    'a chunk whose size overflows',
    (hidden) => ({ lines: 'transfer-encoding: chunked', body: `1000000000000000c\r\n${BODY}\r\n${END}${hidden}` }),
  ],
  ['a chunk whose size is negative', (hidden) => ({ lines: 'transfer-encoding: chunked', body: `-c\r\n${BODY}\r\n${END}${hidden}` })],
  ['a change to HTTP/2', covered('LENGTH\r\nconnection: upgrade, http2-settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAAP__')],
]
