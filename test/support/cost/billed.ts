import { exports } from 'cloudflare:workers'
import type { Counts } from '../../../bench/bill/model.ts'
import { EndpointObject } from '../../../durable-objects/endpoint.ts'
import { HostObject } from '../../../durable-objects/host.ts'
import { env, ORIGIN, vi } from '../harness.ts'
import { recordStatements, sumOfCosts } from './recorder.ts'

/** Key by which the test runner marks its own calls of objects. */
const OF_THE_RUNNER = 'vitestPoolWorkersDurableObjectAction'

/** Counts of everything that the network bills by number, in the whole plane. */
export interface Billed {
  /** Counts since the previous call. */
  take(): Counts
  /** Frames that endpoint objects have read over worker channels. */
  frames(): number
  /** Fires the alarm of an object if it is due at `nowMs`; false if it is not. */
  fireDue(object: { alarm(): Promise<void> }, storage: DurableObjectStorage, nowMs: number): Promise<boolean>
  /** Time for which the alarm of an object is set, milliseconds since the epoch; null: none. */
  alarmAtMs(storage: DurableObjectStorage): number | null
}

type Calls = Omit<Counts, 'rowsRead' | 'rowsWritten'>
const NO_CALLS: Calls = { alarmsSet: 0, requests: 0, objectCalls: 0, messages: 0 }

/**
 * Counts rows, requests, calls of objects and alarms from the call on, given the storage of any object. Alarms are only noted and never
 * fire by themselves. Ends with `vi.restoreAllMocks()`.
 */
export function countBilled(storage: DurableObjectStorage): Billed {
  const statements = recordStatements(storage.sql)
  const calls = { ...NO_CALLS }
  const alarms = noteAlarms(Object.getPrototypeOf(storage) as DurableObjectStorage, () => {
    calls.alarmsSet += 1
  })
  let frames = 0
  watchCalls(calls, () => {
    frames += 1
  })
  return {
    take() {
      const { d1, objects } = sumOfCosts(statements)
      const counts = { rowsRead: d1.read + objects.read, rowsWritten: d1.written + objects.written, ...calls }
      statements.length = 0
      Object.assign(calls, NO_CALLS)
      return counts
    },
    async fireDue(object, of, nowMs) {
      if ((alarms.get(of) ?? Number.POSITIVE_INFINITY) > nowMs) return false
      alarms.delete(of)
      calls.objectCalls += 1
      await object.alarm()
      return true
    },
    frames: () => frames,
    alarmAtMs: (of) => alarms.get(of) ?? null,
  }
}

function noteAlarms(prototype: DurableObjectStorage, onSet: () => void): WeakMap<DurableObjectStorage, number> {
  const alarms = new WeakMap<DurableObjectStorage, number>()
  vi.spyOn(prototype, 'setAlarm').mockImplementation(async function (this: DurableObjectStorage, at) {
    onSet()
    alarms.set(this, Number(at))
  })
  vi.spyOn(prototype, 'getAlarm').mockImplementation(async function (this: DurableObjectStorage) {
    return alarms.get(this) ?? null
  })
  vi.spyOn(prototype, 'deleteAlarm').mockImplementation(async function (this: DurableObjectStorage) {
    alarms.delete(this)
  })
  return alarms
}

// The tests, the Worker and its objects share one isolate, so the runtime's own classes see the calls of all of them.
function watchCalls(calls: Calls, onFrame: () => void): void {
  const fetcher = Object.getPrototypeOf((exports as unknown as { default: Fetcher }).default) as Fetcher
  const { fetch } = fetcher
  vi.spyOn(fetcher, 'fetch').mockImplementation(function (this: Fetcher, input, init) {
    if (this.constructor === fetcher.constructor && input instanceof Request && input.url.startsWith(ORIGIN)) calls.requests += 1
    return fetch.call(this, input, init)
  } as Fetcher['fetch'])
  const namespace = Object.getPrototypeOf(env.ENDPOINT) as DurableObjectNamespace
  const { get } = namespace
  vi.spyOn(namespace, 'get').mockImplementation(function (this: DurableObjectNamespace, ...parameters) {
    return watched(get.apply(this, parameters), () => {
      calls.objectCalls += 1
    })
  })
  const { webSocketMessage } = HostObject.prototype
  vi.spyOn(HostObject.prototype, 'webSocketMessage').mockImplementation(function (this: HostObject, ...parameters) {
    calls.messages += 1
    return webSocketMessage.apply(this, parameters)
  })
  const { webSocketMessage: hear } = EndpointObject.prototype
  vi.spyOn(EndpointObject.prototype, 'webSocketMessage').mockImplementation(async function (this: EndpointObject, ...parameters) {
    calls.messages += 1
    await hear.apply(this, parameters)
    onFrame()
  })
}

/** The stub, with each of its calls reported except those of the test runner. */
function watched(stub: DurableObjectStub, called: () => void): DurableObjectStub {
  return new Proxy(stub, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function' || name === 'constructor') return member
      return (...parameters: unknown[]) => {
        const init = parameters[1] as RequestInit | undefined
        if (!(init?.cf && OF_THE_RUNNER in init.cf)) called()
        return Reflect.apply(member, target, parameters) as unknown
      }
    },
  })
}
