import { useLive } from '../../hooks/live.ts'
import { useApi } from '../../hooks/session.ts'
import { TextField } from '../../parts/form/field.tsx'
import { DeleteButton } from '../../parts/over/confirm-button.tsx'
import { FormDialog } from '../../parts/over/form-dialog.tsx'
import { Page } from '../../parts/page.tsx'
import { LiveTable } from '../../parts/table.tsx'

const BLANK = { name: '', host: '', username: '', password: '' }
const OFF = { autoComplete: 'off', spellCheck: false }

/** Credentials for private images. User names and passwords can be written and never read. */
export function RegistriesPage() {
  const { may } = useApi()
  const noRight = may('registries:write') ? undefined : 'Your role may view credentials but not change them.'
  const registries = useLive(['registries'], (api, signal) => api.listRegistries({}, { signal }), { everyMs: 30_000 })
  return (
    <Page title="Registries" actions={<NewRegistry noRight={noRight} />}>
      <LiveTable
        of={registries}
        rows={(answer) => answer.registries}
        empty={{
          title: 'No credentials yet',
          command: 'podplane registries create --help',
          children: <p>A credential lets pods and workers pull images that are not public.</p>,
        }}
        caption="Registry credentials"
        keyOf={({ id }) => id}
        columns={[
          { title: 'Name', show: ({ name }) => name },
          { title: 'Registry', show: ({ host }) => host ?? 'registry of the first image' },
          { title: 'Id', isMinor: true, show: ({ id }) => <code>{id}</code> },
          {
            title: 'Actions',
            show: ({ id, name }) => (
              <DeleteButton
                name={name}
                path={`/v2/registries/${id}`}
                remove={(api) => api.deleteRegistry({ path: { id } })}
                refresh="registries"
                noRight={noRight}
              >
                <p>Pods and workers that use it cannot pull their image.</p>
              </DeleteButton>
            ),
          },
        ]}
      />
    </Page>
  )
}

const bodyOf = ({ host, ...rest }: typeof BLANK) => ({ ...rest, ...(host !== '' && { host }) })

function NewRegistry({ noRight }: { noRight: string | undefined }) {
  return (
    <FormDialog
      title="New credential"
      verb="Create"
      isPrimary
      noRight={noRight}
      start={BLANK}
      // The copied command has a placeholder instead of the password.
      call={(text) => ({ method: 'POST', path: '/v2/registries', body: { ...bodyOf(text), password: '<password>' } })}
      send={(api, text) => api.createRegistry({ body: bodyOf(text) })}
      done="The credential is saved"
      refresh="registries"
    >
      {(input) => (
        <>
          <TextField label="Name" required {...OFF} {...input('name')} />
          <TextField
            label="Registry"
            placeholder="ghcr.io"
            hint="Empty: the registry of the first image that is pulled with it."
            {...OFF}
            {...input('host')}
          />
          <TextField label="User name" required {...OFF} {...input('username')} />
          <TextField label="Password or token" type="password" required {...OFF} {...input('password')} />
        </>
      )}
    </FormDialog>
  )
}
