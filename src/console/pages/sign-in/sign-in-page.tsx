import { Navigate } from '@tanstack/react-router'
import { paths } from '../../hooks/paths.ts'
import { useSession } from '../../hooks/session.ts'
import { SignIn } from '../../parts/sign-in/sign-in.tsx'
import { ErrorState, Loading } from '../../parts/view-state.tsx'

/** Sign-in page; the provider redirects here after a failed attempt. */
export function SignInPage() {
  const { data, error, refetch } = useSession()
  if (data === undefined) {
    return (
      <main className="mx-auto max-w-lg p-8">
        {error === null ? <Loading /> : <ErrorState error={error} retry={() => void refetch()} />}
      </main>
    )
  }
  if (data.signedIn) return <Navigate to={paths.home() as string as '/'} replace />
  return <SignIn ways={data.ways} />
}
