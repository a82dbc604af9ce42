import { useQuery } from '@tanstack/react-query'
import { describeLink } from '../../../client/session.ts'
import { Button } from '../button.tsx'
import { ErrorState, Loading } from '../view-state.tsx'
import { refusalOf } from './refusal.ts'

/** Confirms the sign-in by a link and shows its user: a link from another person must not change the signed-in user unnoticed (DER-16). */
export function ByLink({ link, isBusy, accept, refuse }: { link: string; isBusy: boolean; accept: () => void; refuse: () => void }) {
  const { data, error } = useQuery({
    queryKey: ['session-link', link],
    queryFn: () => describeLink(location.origin, link),
    retry: false,
    gcTime: 0,
  })
  if (data === undefined) {
    return error === null ? (
      <Loading />
    ) : (
      <>
        <ErrorState error={refusalOf('link', error)} />
        <Button onClick={refuse}>Sign in another way</Button>
      </>
    )
  }
  const { email } = data.user
  return (
    <section aria-label="Sign in by link" className="flex flex-col gap-3">
      <p>
        This link signs you in as <strong>{email}</strong>
        {data.isOperator ? ', and as an operator of this plane' : ''}. Continue only if you expect this.
      </p>
      <div className="flex flex-wrap gap-2">
        <Button kind="primary" isBusy={isBusy} onClick={accept}>
          Sign in as {email}
        </Button>
        <Button onClick={refuse}>Cancel</Button>
      </div>
    </section>
  )
}
