import type { Secret } from '../../../contract/resources/secrets.ts'
import { useLive } from '../../hooks/live.ts'
import { useApi } from '../../hooks/session.ts'
import { CopyButton } from '../../parts/copy/copy.tsx'
import { TextArea, TextField } from '../../parts/form/field.tsx'
import { DeleteButton } from '../../parts/over/confirm-button.tsx'
import { FormDialog } from '../../parts/over/form-dialog.tsx'
import { Page } from '../../parts/page.tsx'
import { Plan } from '../../parts/plan/plan.tsx'
import { LiveTable } from '../../parts/table.tsx'
import { Ago } from '../../parts/time.tsx'

/** Named secret values for environments. A value can be written and never read. */
export function SecretsPage() {
  const { may } = useApi()
  const noRight = may('account:write') ? undefined : 'Your role may view secrets but not change them.'
  const secrets = useLive(['secrets'], (api, signal) => api.listSecrets({}, { signal }), { everyMs: 30_000 })
  return (
    <Page title="Secrets" actions={<EditSecret noRight={noRight} />}>
      <LiveTable
        of={secrets}
        rows={(answer) => answer.secrets}
        empty={{
          title: 'No secrets yet',
          command: 'podplane secrets create --help',
          children: <p>An environment references a secret as {'{{ RUNPOD_SECRET_name }}'}; only the container sees its value.</p>,
        }}
        caption="Secrets"
        keyOf={({ id }) => id}
        columns={[
          { title: 'Name', show: ({ name }) => <code>{name}</code> },
          { title: 'Description', isMinor: true, show: ({ description }) => description ?? '–' },
          {
            title: 'Value updated',
            isMinor: true,
            show: ({ valueLastUpdatedAt, createdAt }) => <Ago at={valueLastUpdatedAt ?? createdAt} />,
          },
          {
            title: 'Actions',
            show: (secret) => (
              <div className="flex flex-wrap gap-2">
                <CopyButton text={`{{ RUNPOD_SECRET_${secret.name} }}`} what={`of ${secret.name}`} label="Copy reference" />
                <EditSecret secret={secret} noRight={noRight} />
                <DeleteButton
                  name={secret.name}
                  path={`/v2/account/secrets/${secret.id}`}
                  remove={(api) => api.deleteSecret({ path: { id: secret.id } })}
                  refresh="secrets"
                  noRight={noRight}
                  losesData
                >
                  <p>The value is lost. Containers that reference it cannot start.</p>
                </DeleteButton>
              </div>
            ),
          },
        ]}
      />
    </Page>
  )
}

/** Form that creates a secret, or changes the value or description of one; its name never changes. */
function EditSecret({ secret, noRight }: { secret?: Secret; noRight: string | undefined }) {
  const start = { name: secret?.name ?? '', value: '', description: secret?.description ?? '' }
  const created = ({ description, ...rest }: typeof start) => ({ ...rest, ...(description !== '' && { description }) })
  const changed = ({ value, description }: typeof start) => ({
    ...(value !== '' && { value }),
    ...(description !== start.description && { description }),
  })
  return (
    <FormDialog
      title={secret === undefined ? 'New secret' : 'Edit'}
      name={secret && `Edit ${secret.name}`}
      verb={secret === undefined ? 'Create' : 'Save'}
      isPrimary={secret === undefined}
      noRight={noRight}
      start={start}
      // The copied command has a placeholder instead of the value.
      call={(text) =>
        secret === undefined
          ? { method: 'POST', path: '/v2/account/secrets', body: { ...created(text), value: '<value>' } }
          : { method: 'PATCH', path: `/v2/account/secrets/${secret.id}`, body: changed({ ...text, value: text.value && '<value>' }) }
      }
      send={(api, text) =>
        secret === undefined
          ? api.createSecret({ body: created(text) })
          : api.updateSecret({ path: { id: secret.id }, body: changed(text) })
      }
      done={secret === undefined ? 'The secret is saved' : 'The secret is changed'}
      refresh="secrets"
    >
      {(input, { value }) => (
        <>
          {secret === undefined && <TextField label="Name" required autoComplete="off" spellCheck={false} {...input('name')} />}
          <TextArea
            label="Value"
            rows={3}
            required={secret === undefined}
            autoComplete="off"
            spellCheck={false}
            {...input('value')}
            hint={secret === undefined ? 'The plane encrypts the value and never shows it again.' : 'Empty: the value stays unchanged.'}
          />
          <TextField label="Description" autoComplete="off" {...input('description')} />
          {/* The plan lists the readers of the secret; it is requested with a placeholder instead of the typed value. */}
          {secret !== undefined && value !== '' && (
            <Plan of={{ method: 'PATCH', path: `/v2/account/secrets/${secret.id}`, body: { value: '<value>' } }} />
          )}
        </>
      )}
    </FormDialog>
  )
}
