import { z } from 'zod'
import { parseJson } from '../../../node/json-file.ts'
import type { PublishedPort } from '../../runtime.ts'

const Ports = z.array(z.object({ private: z.number(), public: z.number(), type: z.string() }))

/** Parses the published ports in the label of a container; empty when the label is missing or damaged. */
export function readPorts(label: string | undefined): PublishedPort[] {
  return Ports.safeParse(parseJson(label ?? '')).data ?? []
}
