import { useLive } from '../../../app/live.ts'
import { Face } from '../../../parts/faces.tsx'
import { SelectField, TextField } from '../../../parts/form/field.tsx'
import type { FieldErrors } from '../../../parts/form/field-errors.ts'
import { KindChoice } from '../../../parts/form/kind-choice.tsx'
import { perHour } from '../../../parts/format.ts'
import type { EndpointText } from './new-endpoint-form.ts'

const EVERY_MS = 15_000
const LEVELS: Readonly<Record<string, string>> = { NONE: 'none free', LOW: '1 to 3 free', MEDIUM: '4 to 15 free', HIGH: '16 or more free' }
const VCPUS = [2, 4, 8, 16, 32]

interface HardwareChoiceProps {
  text: EndpointText
  onChange: (part: Partial<EndpointText>) => void
  errors: FieldErrors
}

/** GPUs or CPUs of a worker, with what is free and the price of one worker now. */
export function HardwareChoice({ text, onChange, errors }: HardwareChoiceProps) {
  return (
    <div className="flex flex-col gap-4">
      <KindChoice kind={text.kind} onChange={(kind) => onChange({ kind })} />
      <div className="grid gap-4 sm:grid-cols-2">
        {text.kind === 'gpu' ? (
          <Gpus text={text} onChange={onChange} errors={errors} />
        ) : (
          <Cpus text={text} onChange={onChange} errors={errors} />
        )}
      </div>
    </div>
  )
}

function Gpus({ text, onChange, errors }: HardwareChoiceProps) {
  const gpus = useGpus(text)
  return (
    <>
      <Face of={gpus}>
        {(data) => (
          <SelectField
            label="GPU"
            value={text.pool}
            error={errors.of('gpu.pools') ?? errors.of('gpu')}
            onChange={({ target }) => onChange({ pool: target.value })}
          >
            <option value="">Choose a GPU</option>
            {poolsOf(data.gpus).map(({ pool, names, memory, price, level }) => (
              <option key={pool} value={pool}>
                {names} · {memory} GB · {perHour(price)} · {LEVELS[level] ?? level}
              </option>
            ))}
          </SelectField>
        )}
      </Face>
      <TextField
        label="GPUs of a worker"
        inputMode="numeric"
        value={text.gpuCount}
        error={errors.of('gpu.count')}
        onChange={({ target }) => onChange({ gpuCount: target.value })}
      />
    </>
  )
}

function Cpus({ text, onChange, errors }: HardwareChoiceProps) {
  const cpus = useCpus()
  return (
    <>
      <Face of={cpus}>
        {(data) => (
          <SelectField label="CPU" value={text.cpuId} error={errors.of('cpu')} onChange={({ target }) => onChange({ cpuId: target.value })}>
            <option value="">Choose a CPU</option>
            {data.cpus.map(({ id, name, price }) => (
              <option key={id} value={id}>
                {name} ({id}) · {perHour(price.serverlessPerVcpu)} a vCPU
              </option>
            ))}
          </SelectField>
        )}
      </Face>
      <SelectField label="vCPUs of a worker" value={text.vcpuCount} onChange={({ target }) => onChange({ vcpuCount: target.value })}>
        {VCPUS.map((one) => (
          <option key={one}>{one}</option>
        ))}
      </SelectField>
    </>
  )
}

function useGpus({ gpuCount }: Pick<EndpointText, 'gpuCount'>) {
  const query = { include: 'AVAILABILITY', product: 'SERVERLESS', count: /^[1-9]\d?$/.test(gpuCount) ? gpuCount : '1' }
  return useLive(['catalog', 'gpus', query], (api, signal) => api.listGpuTypes({ query }, { signal }), { everyMs: EVERY_MS })
}

function useCpus() {
  return useLive(['catalog', 'cpus', 'plain'], (api, signal) => api.listCpuTypes({}, { signal }), { everyMs: 0 })
}

interface Gpu {
  name: string
  pool: string | null
  memory: number
  price: { serverless?: number | undefined }
  availability?: string | undefined
}

/** Workers ask for pools: types that are as good as each other. */
function poolsOf(gpus: readonly Gpu[]) {
  const pools = new Map<string, Gpu[]>()
  for (const gpu of gpus)
    if (gpu.pool !== null && gpu.price.serverless !== undefined) pools.set(gpu.pool, [...(pools.get(gpu.pool) ?? []), gpu])
  const order = Object.keys(LEVELS)
  return [...pools].map(([pool, members]) => ({
    pool,
    names: members.map(({ name }) => name).join(' or '),
    memory: Math.min(...members.map(({ memory }) => memory)),
    price: Math.max(...members.map(({ price }) => price.serverless ?? 0)),
    level: members.map(({ availability }) => availability ?? 'NONE').sort((a, b) => order.indexOf(b) - order.indexOf(a))[0] ?? 'NONE',
  }))
}
