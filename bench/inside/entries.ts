/** Header that names an entry point, which bypasses the plane's front. */
export const ENTRY_HEADER = 'x-bench-entry'

/**
 * Entry points into the plane for measurements. `direct`: the call goes to the endpoint's object without key check and limits; `rest`: the
 * same for a REST call. The others run inside the object, `count` times. A Worker's clock stands still while it computes, so the caller
 * measures the time, and `nothing` measures the cost of the call itself. `hostStatements`: number of D1 statements that the host objects
 * have sent.
 */
export type Entry = 'direct' | 'rest' | 'hostStatements' | 'nothing' | 'fill' | 'insert' | 'takeAndFinish' | 'trim' | 'size'
