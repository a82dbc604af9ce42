import type { Command } from 'commander'
import { act, actLater, examples, noun } from '../session/act.ts'

/** Adds `podplane auth …` and `podplane context …`. */
export function addAuth(program: Command): void {
  const auth = noun(program, 'auth', [], 'sign in and out')
  const login = auth
    .command('login')
    .description('sign in to a plane and store the key in a file that only you can read')
    .option('--with-key', 'read an API key from stdin')
    .option('--name <context>', 'name of the context to create (default: the host name)')
  actLater(login, async () => (await import('../account/auth.ts')).logIn)
  examples(login, 'auth login --url https://plane.example.com', 'auth login --url https://plane.example.com --with-key < key.txt')
  actLater(
    auth.command('logout').description('remove the stored key of this context'),
    async () => (await import('../account/auth.ts')).logOut,
  )
  actLater(
    auth.command('status').description('show the plane in use, the source of the key, and the user of the key'),
    async () => (await import('../account/auth.ts')).printStatus,
  )
  act(auth.command('token').description('print the key in use, for other programs'), async (session) => session.out.lines([session.key]))

  const context = noun(program, 'context', ['contexts'], 'settings for several planes and accounts')
  actLater(
    context.command('list').alias('ls').description('list contexts'),
    async () => (await import('../account/contexts.ts')).listContexts,
  )
  actLater(
    context.command('show').description('show the current context'),
    async () => (await import('../account/contexts.ts')).showContext,
  )
  act(context.command('use <name>').description('switch to a context'), async (session, _options, name: string) => {
    ;(await import('../account/contexts.ts')).useContext(session, name)
  })
  const set = context.command('set <name> <url>').description('add or change a context')
  actLater(set, async () => (await import('../account/contexts.ts')).setContext)
  examples(set, 'context set lab https://lab.example.com')
  act(context.command('delete <name>').description('delete a context and its key'), async (session, _options, name: string) => {
    ;(await import('../account/contexts.ts')).deleteContext(session, name)
  })
}
