import type { ChangeEffect } from '../../../contract/change-plan.ts'

const SIGNS = { INFO: '·', WARNING: '!', LOSS: '✕' } as const
const WORDS = { INFO: 'Also:', WARNING: 'Mind:', LOSS: 'Lost:' } as const
const LOOKS = { INFO: 'text-soft', WARNING: 'text-warn', LOSS: 'text-bad' } as const

/** What a change would do, a line each; what is lost is told apart. */
export function Effects({ of, withAccount = false }: { of: readonly ChangeEffect[]; withAccount?: boolean }) {
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
          {withAccount && resource.teamId !== undefined && (
            <>
              {' of account '}
              <code>{resource.teamId}</code>
            </>
          )}
          : {what}
        </li>
      ))}
    </ul>
  )
}
