import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

export interface CuttingProxy {
  url: string
  /** Number of connections that were cut. */
  cuts: number
  /** From then on every connection is cut at this interval, anywhere in a message; null: none is cut. */
  cutEvery(ms: number | null): void
  close(): Promise<void>
}

/** A TCP proxy before a plane that cuts connections: requests, answers, streams and terminals alike, in the middle of a line too. */
export async function startCuttingProxy(port: number): Promise<CuttingProxy> {
  const sockets = new Set<Socket>()
  let timer: NodeJS.Timeout | undefined
  const server = createServer((near) => {
    const far = connect(port, '127.0.0.1')
    sockets.add(near)
    near.on('close', () => sockets.delete(near))
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.on('error', () => undefined)
      one.on('close', () => other.destroy())
      one.pipe(other)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cut = () => {
    proxy.cuts += sockets.size
    for (const socket of sockets) socket.destroy()
  }
  const proxy: CuttingProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cuts: 0,
    cutEvery(ms) {
      clearInterval(timer)
      timer = ms === null ? undefined : setInterval(cut, ms)
    },
    close() {
      clearInterval(timer)
      for (const socket of sockets) socket.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
  return proxy
}
