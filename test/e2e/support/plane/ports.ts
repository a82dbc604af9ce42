import { claimPort } from '../../../../src/local/port.ts'

/**
 * The first of `count` unused ports in a row, below the range from which the system picks ports: a plane that restarts must find its port
 * free.
 */
export async function pickPorts(count = 1): Promise<number> {
  for (;;) {
    const first = 20_000 + Math.floor(Math.random() * 10_000)
    const all = Array.from({ length: count }, (_, index) => claimPort(first + index))
    if ((await Promise.allSettled(all)).every(({ status }) => status === 'fulfilled')) return first
  }
}
