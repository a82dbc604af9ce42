import type { PodPlacementPreview } from '../../../../contract/pods/pods.ts'
import { count } from '../../../parts/format.ts'
import { reasonsOf } from './reasons.ts'

type Hosts = PodPlacementPreview['hosts']

/** Missing requirements of the hosts: a summary, then each host. */
export function Misfit({ hosts }: { hosts: Hosts }) {
  if (hosts.length === 0) return <p className="text-bad">The plane has no machine that runs pods.</p>
  return (
    <div>
      <p className="text-bad mb-1">No machine has capacity for the pod now.</p>
      <ul className="list-disc pl-5">
        {reasonsOf(hosts).map(({ text, on }) => (
          <li key={text}>
            It {text}: {on === hosts.length ? all(on) : `missing on ${on} of ${count(hosts.length, 'machine')}`}.
          </li>
        ))}
      </ul>
      {hosts.length > 1 && <EachOne hosts={hosts} />}
    </div>
  )
}

function all(machines: number): string {
  return machines === 1 ? 'the machine lacks that' : `all ${machines} machines lack that`
}

function EachOne({ hosts }: { hosts: Hosts }) {
  return (
    <details className="mt-2">
      <summary className="cursor-pointer">Missing on each machine</summary>
      <ul className="mt-1 flex max-h-64 flex-col gap-1 overflow-y-auto" aria-label="Missing on each machine">
        {hosts.map(({ hostId, failed }) => (
          <li key={hostId} className="min-w-0">
            <code className="break-all">{hostId}</code>
            <span className="text-soft block">{failed.join(', ')}</span>
          </li>
        ))}
      </ul>
    </details>
  )
}
