import type { Host } from '../../../contract/hosts/hosts.ts'

/** How much of something is taken, as a bar and in figures. */
export function Amount({ of: { total, free }, unit = '' }: { of: { total: number; free: number }; unit?: string }) {
  const used = total - free
  const text = `${trimmed(used)} of ${trimmed(total)}${unit === '' ? '' : ` ${unit}`}`
  return (
    <span className="flex min-w-24 flex-col gap-1">
      <span className="tabular-nums">{text}</span>
      <span className="bg-raised h-1 rounded" aria-hidden="true">
        <span className="bg-fill block h-1 rounded" style={{ width: `${total === 0 ? 0 : Math.round((used / total) * 100)}%` }} />
      </span>
    </span>
  )
}

function trimmed(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(1)
}

/** Kinds of GPUs with how many of them are taken. */
export function Gpus({ of }: { of: Host['gpus'] }) {
  if (of.length === 0) return <span className="text-soft">none</span>
  return (
    <ul>
      {of.map(({ typeId, total, free, simulated }) => (
        <li key={typeId}>
          {total - free} of {total} {typeId}
          {simulated && ' (simulated)'}
        </li>
      ))}
    </ul>
  )
}
