import { type FormEvent, useEffect, useState } from 'react'
import { type SignInWays, signIn } from '../../../client/session.ts'
import { useSessionChange } from '../../hooks/session.ts'
import { Button } from '../button.tsx'
import { TextField } from '../form/field.tsx'
import { ErrorState } from '../view-state.tsx'
import { ByLink } from './by-link.tsx'
import { refusalOf } from './refusal.ts'

/** Sign-in link in the fragment, which browsers send to no server, so no log has it. */
const LINK = /^#link=([\w.-]+)$/

/** Sign-in by the organization's provider, by an API key, or by a link, which needs a confirmation. */
export function SignIn({ ways }: { ways: SignInWays }) {
  const changed = useSessionChange()
  const [error, setError] = useState<Error | null>(null)
  const [isBusy, setIsBusy] = useState(false)
  const [key, setKey] = useState('')
  const enter = async (by: Parameters<typeof signIn>[1]) => {
    setIsBusy(true)
    setError(null)
    await signIn(location.origin, by).then(changed, (reason: unknown) => setError(refusalOf('link' in by ? 'link' : 'key', reason)))
    setIsBusy(false)
  }
  const [link, setLink] = useState(() => location.hash.match(LINK)?.[1] ?? null)
  // The link must not stay in the browser history.
  useEffect(() => {
    if (LINK.test(location.hash)) history.replaceState(history.state, '', location.pathname + location.search)
  }, [])
  const accept = (secret: string) => {
    setLink(null)
    void enter({ link: secret })
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    void enter({ key: key.trim() })
  }
  const reason = new URLSearchParams(location.search).get('reason')
  return (
    <main className="mx-auto flex min-h-dvh max-w-sm flex-col justify-center gap-5 p-6">
      <h1 className="text-xl font-semibold">Sign in to podplane</h1>
      {reason !== null && error === null && (
        <p role="alert" className="bg-bad-bg text-bad rounded-md p-3">
          {REASONS[reason] ?? REASONS.failed}
        </p>
      )}
      {error !== null && <ErrorState error={error} />}
      {link !== null && <ByLink link={link} isBusy={isBusy} accept={() => accept(link)} refuse={() => setLink(null)} />}
      {link === null && ways.oidc && (
        <a
          className="bg-fill rounded-md px-3 py-2 text-center font-medium text-white hover:brightness-110"
          href={`/console/sign-in/start?return=${encodeURIComponent(location.pathname.startsWith('/console/sign-in') ? '/console' : location.pathname + location.search)}`}
        >
          Continue with your organization
        </a>
      )}
      {link === null && ways.key && (
        <form onSubmit={submit} className="flex flex-col gap-3">
          <TextField
            label="API key"
            type="password"
            autoComplete="off"
            required
            value={key}
            onChange={(event) => setKey(event.target.value)}
            hint="It is exchanged for a session of 12 hours and not stored in this browser. npm start prints a key and a sign-in link."
          />
          <Button type="submit" kind={ways.oidc ? 'plain' : 'primary'} isBusy={isBusy}>
            Sign in
          </Button>
        </form>
      )}
    </main>
  )
}

/** Message for each error code that a failed provider sign-in puts into the address. */
const REASONS: Readonly<Record<string, string>> = {
  denied: 'The sign-in was denied at the provider.',
  expired: 'The sign-in took too long. Try again.',
  email: 'The provider has not verified your email address, or this plane does not accept its domain. Ask your operator.',
  account: 'The account of this address was deleted, or belongs to another sign-in. Ask your operator.',
  suspended: 'This user is suspended. Ask your operator.',
  often: 'Too many requests. Wait a minute and try again.',
  provider: 'The sign-in provider does not answer as expected. Try again, or ask your operator.',
  failed: 'The sign-in failed. Try again.',
}
