export interface TakenJob {
  id: string
  input: unknown
}

/**
 * The operations that every compared queue must have: the plane's main task, without anything around it. Each promise resolves once its
 * change is on disk.
 */
export interface PeerQueue {
  submit(input: unknown): Promise<string>
  /** Takes at most `count` jobs; no other caller receives them. */
  take(count: number): Promise<TakenJob[]>
  finish(jobId: string, output: unknown): Promise<void>
}
