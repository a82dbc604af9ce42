import { connect, type Socket } from 'node:net'

export interface Answer {
  status: number
  body: string
}

/** One HTTP/1.1 connection with one request at a time. A general client would use more processor time than the measured plane. */
export class HttpConnection {
  private readonly socket: Socket
  private readonly host: string
  private received: Buffer = Buffer.alloc(0)
  private broken: Error | undefined
  private waiting: { resolve(answer: Answer): void; reject(error: Error): void } | undefined

  private constructor(socket: Socket, host: string) {
    this.socket = socket
    this.host = host
    socket.setNoDelay(true)
    socket.on('data', (chunk) => this.receive(chunk))
    socket.on('close', () => this.fail(new Error('the connection was closed')))
    socket.on('error', (error) => this.fail(error))
  }

  static open(url: string): Promise<HttpConnection> {
    const { hostname, port, host } = new URL(url)
    return new Promise((resolve, reject) => {
      const socket = connect({ host: hostname, port: Number(port) })
      socket.once('error', reject)
      socket.once('connect', () => {
        socket.off('error', reject)
        resolve(new HttpConnection(socket, host))
      })
    })
  }

  request(method: string, path: string, headers: Record<string, string>, body = ''): Promise<Answer> {
    const lines = Object.entries({ host: this.host, ...headers, 'content-length': String(Buffer.byteLength(body)) })
    const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
    return new Promise((resolve, reject) => {
      if (this.broken) return reject(this.broken)
      this.waiting = { resolve, reject }
      this.socket.write(`${method} ${path} HTTP/1.1\r\n${head}\r\n${body}`)
    })
  }

  close(): void {
    this.waiting = undefined
    this.socket.destroy()
  }

  private receive(chunk: Buffer): void {
    this.received = this.received.length === 0 ? chunk : Buffer.concat([this.received, chunk])
    const answer = parseAnswer(this.received)
    if (answer === undefined) return
    this.received = Buffer.alloc(0)
    const waiting = this.waiting
    this.waiting = undefined
    waiting?.resolve(answer)
  }

  private fail(error: Error): void {
    this.broken ??= error
    this.waiting?.reject(error)
    this.waiting = undefined
  }
}

const HEAD_END = '\r\n\r\n'

/** Parses an answer; undefined while it is not complete. */
function parseAnswer(bytes: Buffer): Answer | undefined {
  const headEnd = bytes.indexOf(HEAD_END)
  if (headEnd === -1) return undefined
  const head = bytes.toString('latin1', 0, headEnd).toLowerCase()
  const status = Number(head.slice(9, 12))
  const rest = bytes.subarray(headEnd + HEAD_END.length)
  if (status === 204) return { status, body: '' }
  const length = /\r\ncontent-length: *(\d+)/.exec(head)?.[1]
  if (length === undefined) return parseChunked(status, rest)
  return rest.length < Number(length) ? undefined : { status, body: rest.toString('utf8', 0, Number(length)) }
}

function parseChunked(status: number, bytes: Buffer): Answer | undefined {
  const parts: Buffer[] = []
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd === -1) return undefined
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16)
    const start = lineEnd + 2
    if (bytes.length < start + size + 2) return undefined
    if (size === 0) return { status, body: Buffer.concat(parts).toString('utf8') }
    parts.push(bytes.subarray(start, start + size))
    at = start + size + 2
  }
}
