import { z } from 'zod'
import type { PublishedPort } from '../../runtime.ts'

const Ports = z.array(z.object({ private: z.number(), public: z.number(), type: z.string() }))

/** The published ports of a container, as its label says them. */
export function readPorts(label: string | undefined): PublishedPort[] {
  try {
    return Ports.safeParse(JSON.parse(label ?? '[]')).data ?? []
  } catch {
    return []
  }
}
