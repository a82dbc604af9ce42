import type { ChangeEffect } from '../../../contract/change-plan.ts'

const SIGNS = { INFO: '·', WARNING: '!', LOSS: '✕' } as const
const LABELS = { INFO: 'Also:', WARNING: 'Warning:', LOSS: 'Lost:' } as const
const REQUESTS = { INFO: 'text-soft', WARNING: 'text-warn', LOSS: 'text-bad' } as const

/** Effects of a change, one per line, with their severity. A long list scrolls, also by keyboard. */
export function Effects({ of, withAccount = false }: { of: readonly ChangeEffect[]; withAccount?: boolean }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
    <section aria-label="Effects of the change" tabIndex={0} className="max-h-64 overflow-y-auto">
      <ul aria-label="Effects" className="flex flex-col gap-1">
        {of.map(({ kind, resource, what, severity }) => (
          <li key={`${kind} ${resource.kind} ${resource.id} ${what}`}>
            <span aria-hidden="true" className={REQUESTS[severity]}>
              {SIGNS[severity]}
            </span>{' '}
            <span className="sr-only">{LABELS[severity]}</span>
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
    </section>
  )
}
