import type { JobResult } from './worker-client.ts'

/** `builtin/echo`: the smallest useful worker; the output is the input. */
export async function echo(input: unknown): Promise<JobResult> {
  return { output: input }
}
