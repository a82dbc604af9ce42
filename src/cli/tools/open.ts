import { spawn } from 'node:child_process'
import { EXIT } from '../core/exit-codes.ts'
import type { Session } from '../session/session.ts'

/** Paths of console pages, by resource. */
export const CONSOLE_PAGES = {
  home: () => '/console',
  pod: (id: string) => pageAt('pods', id),
  endpoint: (id: string) => pageAt('endpoints', id),
  job: (endpointId: string, jobId: string) => pageAt('endpoints', endpointId, 'jobs', jobId),
  cluster: (id: string) => pageAt('clusters', id),
}

function pageAt(...parts: string[]): string {
  return `/console${parts.map((part) => `/${encodeURIComponent(part)}`).join('')}`
}

/** Program that opens an address on this system; undefined without a display. */
export function openerOf(platform: string, env: Readonly<Record<string, string | undefined>>): readonly [string, ...string[]] | undefined {
  if (platform === 'darwin') return ['open']
  if (platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler']
  return env.DISPLAY || env.WAYLAND_DISPLAY ? ['xdg-open'] : undefined
}

/** Prints the address of a console page, and opens it in a browser on an interactive terminal (CMD-18). */
export function openPage(session: Session, path: string): number {
  const address = session.target.url + path
  session.out.record({ url: address }, address)
  const opener = session.isInteractive ? openerOf(process.platform, session.io.env) : undefined
  if (opener === undefined) return EXIT.OK
  const [program, ...args] = opener
  const child = spawn(program, [...args, address], { stdio: 'ignore', detached: true })
  child.on('error', () => session.out.talk(`${program} is not installed: open the address yourself`))
  child.unref()
  return EXIT.OK
}
