import { useAct } from '../../hooks/act.ts'
import { useLive } from '../../hooks/live.ts'
import { useApi } from '../../hooks/session.ts'
import { Button } from '../../parts/button.tsx'
import { TextArea } from '../../parts/form/field.tsx'
import { Form, Submit, useForm } from '../../parts/form/form.tsx'
import { Page, Panel } from '../../parts/page.tsx'
import { LiveTable } from '../../parts/table.tsx'

const FINGER = 12

/** Parts that distinguish one key from another: kind, last characters and comment. */
function partsOf(key: string): { kind: string; end: string; comment: string } {
  const [kind = '', data = '', ...comment] = key.split(/\s+/)
  return { kind, end: data.slice(-FINGER), comment: comment.join(' ') }
}

/** Public keys that open pods over SSH. */
export function SshKeysPage() {
  const { api, may, refresh } = useApi()
  const keys = useLive(['ssh-keys'], (client, signal) => client.getSshKeys({}, { signal }), { everyMs: 30_000 })
  const { run } = useAct()
  const { isBusy, refusal, send, text, set, input } = useForm({ key: '' })
  const off = may('account:write') ? undefined : 'Your role in this account may not change its SSH keys.'
  const known = keys.data?.keys ?? []
  const add = async () => {
    const done = await send(() => api.putSshKeys({ body: { keys: [...known, text.key.trim()] } }), 'Added the key')
    if (done === undefined) return
    set({ key: '' })
    await refresh('ssh-keys')
  }
  const remove = async (key: string) => {
    await run(() => api.putSshKeys({ body: { keys: known.filter((other) => other !== key) } }), 'Removed the key')
    await refresh('ssh-keys')
  }
  return (
    <Page title="SSH keys">
      <p className="text-soft">
        Pods with SSH access accept these keys, and the SSH proxy identifies you by them. Running pods keep the keys that they started with.
      </p>
      <LiveTable
        of={keys}
        rows={(data) => data.keys.map((key, at) => ({ key, maker: data.makers[at] }))}
        empty={{ title: 'No keys yet', command: 'cat ~/.ssh/id_ed25519.pub' }}
        caption="SSH keys"
        keyOf={({ key }) => key}
        columns={[
          { title: 'Type', show: ({ key }) => partsOf(key).kind },
          { title: 'Ends with', show: ({ key }) => <code>…{partsOf(key).end}</code> },
          { title: 'Comment', show: ({ key }) => partsOf(key).comment || '–' },
          { title: 'Added by', show: ({ maker }) => maker?.userId ?? 'unknown' },
          { title: 'Access', show: ({ maker }) => (maker?.endedBecause ? `No: ${maker.endedBecause}` : 'Yes') },
          {
            title: 'Actions',
            show: ({ key }) => (
              <Button
                kind="danger"
                disabledReason={off}
                aria-label={`Remove the key ${partsOf(key).comment || partsOf(key).end}`}
                onClick={() => void remove(key)}
              >
                Remove
              </Button>
            ),
          },
        ]}
      />
      <Panel title="Add a key">
        <Form onSubmit={add} refusal={refusal} className="flex flex-col items-start gap-3">
          <div className="w-full">
            <TextArea
              label="Public key"
              hint="One line, such as ssh-ed25519 AAAA… me@example.com. Never the private key."
              rows={3}
              required
              {...input('key', 'keys')}
            />
          </div>
          <Submit
            isBusy={isBusy}
            disabledReason={off}
            call={{ method: 'PUT', path: '/v2/account/ssh-keys', body: { keys: [...known, text.key.trim()] } }}
          >
            Add
          </Submit>
        </Form>
      </Panel>
    </Page>
  )
}
