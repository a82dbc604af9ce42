import { closeSync, openSync, readlinkSync } from 'node:fs'

/** The network namespace of a process, held open, so that a later process with the same id is not mistaken for it. */
export class NetworkNamespace {
  private readonly fd: number
  /** For `nsenter --net`. */
  readonly path: string

  /** Throws when there is no such process, or when its network is the machine's own. */
  constructor(pid: number) {
    const link = `/proc/${pid}/ns/net`
    if (readlinkSync(link) === readlinkSync('/proc/self/ns/net')) throw new Error('the container has no network of its own')
    this.fd = openSync(link, 'r')
    this.path = `/proc/${process.pid}/fd/${this.fd}`
  }

  close(): void {
    closeSync(this.fd)
  }
}
