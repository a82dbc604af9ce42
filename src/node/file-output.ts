import { fstatSync, writeSync } from 'node:fs'
import { Writable } from 'node:stream'
import { isatty } from 'node:tty'

type Write = (fd: number, bytes: Uint8Array) => number

/**
 * Output to a file. Bytes that the file system refuses are dropped, and writing works again once there is room. Node.js's own stream ends
 * with the first refused write, and so does a program that does not expect that.
 */
export class FileOutput extends Writable {
  readonly fd: number
  private readonly writeBytes: Write

  constructor(fd: number, write: Write = (to, bytes) => writeSync(to, bytes)) {
    super({ decodeStrings: true })
    this.fd = fd
    this.writeBytes = write
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    try {
      for (let left: Uint8Array = chunk; left.length > 0; ) left = left.subarray(this.writeBytes(this.fd, left))
    } catch {
      // The rest of these bytes is dropped.
    }
    done()
  }
}

/**
 * Keeps a service running while its output goes to a file on a full disk (PLANE-12, HOST-172): it drops the output. Call it before the first
 * output of a program that runs until it is stopped. A command whose output is its result must fail instead.
 */
export function dropRefusedOutput(): void {
  for (const [name, fd] of [
    ['stdout', 1],
    ['stderr', 2],
  ] as const) {
    if (isFile(fd)) Object.defineProperty(process, name, { configurable: true, enumerable: true, value: new FileOutput(fd) })
  }
}

/** Whether a descriptor is written to as a file: terminals, pipes and sockets report a full buffer instead of a full disk. */
function isFile(fd: number): boolean {
  try {
    const stat = fstatSync(fd)
    return stat.isFile() || (stat.isCharacterDevice() && !isatty(fd))
  } catch {
    return false
  }
}
