import type { Host } from '../../../contract/hosts/hosts.ts'

/** Allocated part of an amount, as a bar and in figures. */
export function Amount({ of: { total, free }, unit = '' }: { of: { total: number; free: number }; unit?: string }) {
  const used = total - free
  const text = `${trimmed(used)} of ${trimmed(total)}${unit === '' ? '' : ` ${unit}`}`
  return <Share used={used} bound={total} label={text} />
}

/** Used part of a bound, in words and as a bar; null: no bound. */
export function Share({ used, bound, label }: { used: number; bound: number | null; label: string }) {
  const percent = bound === null || bound === 0 ? 0 : Math.min(100, Math.round((used / bound) * 100))
  return (
    <span className="flex min-w-24 flex-col gap-1">
      <span className="tabular-nums">{label}</span>
      {bound !== null && (
        <span className="bg-raised h-1 rounded" aria-hidden="true">
          <span className={`block h-1 rounded ${percent >= 100 ? 'bg-bad' : 'bg-fill'}`} style={{ width: `${percent}%` }} />
        </span>
      )}
    </span>
  )
}

function trimmed(value: number): string {
  return Number.isInteger(value) ? String(value) : value.toFixed(1)
}

/** GPU types with the number of allocated ones. */
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
