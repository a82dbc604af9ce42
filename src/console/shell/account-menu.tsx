import { type SignedIn, signOut } from '../../client/session.ts'
import { useAct } from '../hooks/act.ts'
import { type Account, chooseAccount, useSessionChange } from '../hooks/session.ts'
import { Menu } from '../parts/over/menu.tsx'

/** Menu with the signed-in user, the chosen account, the other accounts and the sign-out button. */
export function AccountMenu({ session, account }: { session: SignedIn; account: Account }) {
  const changed = useSessionChange()
  const { run } = useAct()
  const others = session.accounts.filter(({ id }) => id !== account.id)
  const items = [
    ...others.map(({ id, name }) => ({
      label: `Switch to ${name}`,
      run: () => chooseAccount(id),
    })),
    { label: 'Sign out', run: () => void run(() => signOut(location.origin), 'Signed out').then(changed) },
  ]
  return (
    <Menu name={`Account: ${account.name}`} label={<span className="max-w-20 truncate sm:max-w-40">{account.name}</span>} items={items} />
  )
}
