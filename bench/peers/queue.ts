export interface TakenJob {
  id: string
  input: unknown
}

/** What a queue has to do to be compared: the plane's main job, with nothing around it. Each promise resolves once its change is on disk. */
export interface PeerQueue {
  submit(input: unknown): Promise<string>
  /** At most so many jobs, which nobody else gets now. */
  take(count: number): Promise<TakenJob[]>
  finish(jobId: string, output: unknown): Promise<void>
}
