/** Header of a request that goes past the plane's front; its value is the door. */
export const DOOR_HEADER = 'x-bench-door'

/**
 * `direct`: the call goes to the endpoint's object without key check and limits; `rest`: so does one to REST. The others run inside the object, `count`
 * times; time stands still inside a Worker, so the caller has to measure, and `nothing` tells what the way costs. `hostStatements`: how
 * many statements the objects of hosts have sent to D1 so far.
 */
export type Door = 'direct' | 'rest' | 'hostStatements' | 'nothing' | 'fill' | 'insert' | 'takeAndFinish' | 'trim' | 'size'
