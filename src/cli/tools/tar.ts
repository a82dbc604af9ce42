import { tarEnd, tarHeader, tarPadding } from '../../node/tar.ts'

const FILE_MODE = 0o600

/** Builds a tar archive (ustar) of texts by name. */
export function tarOf(files: Readonly<Record<string, string>>, nowMs: number): Buffer {
  const parts = Object.entries(files).flatMap(([name, text]) => {
    const body = Buffer.from(text)
    return [tarHeader({ name, mode: FILE_MODE, modifiedMs: nowMs }, body.length), body, tarPadding(body.length)]
  })
  return Buffer.concat([...parts, tarEnd()])
}
