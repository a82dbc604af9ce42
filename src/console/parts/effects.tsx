import type { ChangeEffect, ChangePlan } from '../../contract/change-plan.ts'

const SIGNS = { INFO: '·', WARNING: '!', LOSS: '✕' } as const
const WORDS = { INFO: 'Also:', WARNING: 'Mind:', LOSS: 'Lost:' } as const
const LOOKS = { INFO: 'text-soft', WARNING: 'text-warn', LOSS: 'text-bad' } as const

/** What a change would do, as the plane foretells it by the same verb. */
export function Plan({ of: { effects, refusal } }: { of: ChangePlan }) {
  if (refusal !== null) return <p className="bg-bad-bg text-bad rounded-md p-3">It would be refused: {refusal.detail ?? refusal.title}</p>
  return effects.length === 0 ? <p>Nothing else is touched.</p> : <Effects of={effects} />
}

export function Effects({ of }: { of: readonly ChangeEffect[] }) {
  return (
    <ul aria-label="What would happen" className="flex max-h-64 flex-col gap-1 overflow-y-auto">
      {of.map(({ kind, resource, what, severity }) => (
        <li key={`${kind} ${resource.kind} ${resource.id} ${what}`}>
          <span aria-hidden="true" className={LOOKS[severity]}>
            {SIGNS[severity]}
          </span>{' '}
          <span className="sr-only">{WORDS[severity]}</span>
          <strong className="font-medium">
            {resource.kind} {resource.name ?? resource.id}
          </strong>
          : {what}
        </li>
      ))}
    </ul>
  )
}
