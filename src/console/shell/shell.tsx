import { Outlet, useRouterState } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import type { SignedIn } from '../../client/session.ts'
import { paths } from '../hooks/paths.ts'
import { useAccount, useSession } from '../hooks/session.ts'
import { Button } from '../parts/button.tsx'
import { A } from '../parts/link.tsx'
import { SignIn } from '../parts/sign-in/sign-in.tsx'
import { ErrorState, Loading } from '../parts/view-state.tsx'
import { AccountMenu } from './account-menu.tsx'
import { NAVIGATION, type NavigationItem, OPERATOR_NAVIGATION } from './navigation.ts'
import { SpendBar } from './spend-bar.tsx'

/** Refresh interval of the session: a changed role takes effect without a new sign-in. */
const SESSION_EVERY_MS = 20_000

/** Frame around every page of a session. Without a session it shows the sign-in form, then the requested page. */
export function Shell() {
  const { data, error, refetch } = useSession(SESSION_EVERY_MS)
  if (data === undefined) {
    return (
      <main className="mx-auto max-w-lg p-8">
        {error === null ? <Loading /> : <ErrorState error={error} retry={() => void refetch()} />}
      </main>
    )
  }
  return data.signedIn ? <Frame session={data} /> : <SignIn ways={data.ways} />
}

function Frame({ session }: { session: SignedIn }) {
  const path = useRouterState({ select: ({ location }) => location.pathname })
  const [isOpen, setIsOpen] = useState(false)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a page that was chosen closes the list it was chosen from.
  useEffect(() => setIsOpen(false), [path])
  const account = useAccount(session)
  const own = NAVIGATION.map(({ title, items }) => ({
    title,
    items: items.filter(({ needs }) => needs === undefined || account.scopes.includes(needs)),
  }))
  const groups = [...(account.id === null ? [] : own), ...(session.isOperator ? [OPERATOR_NAVIGATION] : [])]
  return (
    <div className="flex min-h-dvh flex-col">
      <a href="#content" className="bg-panel sr-only focus:not-sr-only focus:absolute focus:z-50 focus:p-2">
        Skip to content
      </a>
      <header className="border-line bg-panel sticky top-0 z-30 flex items-center gap-3 border-b px-4 py-2">
        <Button kind="quiet" className="md:hidden" aria-expanded={isOpen} aria-controls="navigation" onClick={() => setIsOpen(!isOpen)}>
          Menu
        </Button>
        <A to={paths.home()} className="font-semibold">
          podplane
        </A>
        <div className="ml-auto flex min-w-0 items-center gap-2">
          {account.id !== null && <SpendBar />}
          <AccountMenu session={session} account={account} />
        </div>
      </header>
      <div className="flex flex-1">
        <nav
          id="navigation"
          aria-label="Main"
          className={`border-line bg-panel w-48 shrink-0 flex-col gap-4 border-r p-3 md:sticky md:top-12 md:flex md:h-[calc(100dvh-3rem)] md:overflow-y-auto ${isOpen ? 'flex' : 'hidden'}`}
        >
          {groups.map(({ title, items }) => (
            <div key={title}>
              <p className="text-soft px-2 pb-1 text-xs font-medium">{title}</p>
              <ul>
                {items.map((item) => (
                  <li key={item.to}>
                    <NavigationLink item={item} isHere={isHere(item, path)} />
                  </li>
                ))}
              </ul>
            </div>
          ))}
        </nav>
        <main id="content" className="min-w-0 flex-1 p-4 md:p-6">
          <Outlet />
        </main>
      </div>
    </div>
  )
}

function isHere({ to }: NavigationItem, path: string): boolean {
  return to === paths.home() ? path === to || path === `${to}/` : path === to || path.startsWith(`${to}/`)
}

function NavigationLink({ item, isHere }: { item: NavigationItem; isHere: boolean }) {
  return (
    <A
      to={item.to}
      aria-current={isHere ? 'page' : undefined}
      className={`block rounded-md px-2 py-1.5 ${isHere ? 'bg-raised font-medium' : 'hover:bg-raised'}`}
    >
      {item.title}
    </A>
  )
}
