import type { Command } from 'commander'
import { act } from '../core/act.ts'

/** `open` under pods, endpoints and clusters: the page of one in the console. */
export function addOpen(parent: Command, kind: 'pod' | 'endpoint' | 'cluster'): void {
  act(
    parent.command(`open <${kind}>`).description('print the address of its page in the console, and open it'),
    async (session, _options, id: string) => {
      const { CONSOLE_PAGES, openPage } = await import('../tools/open.ts')
      return openPage(session, CONSOLE_PAGES[kind](id))
    },
  )
}
