import { type ReactNode, useState } from 'react'
import type { ApiBody } from '../../../../client/client.ts'
import { useAct } from '../../../hooks/act.ts'
import { useApi } from '../../../hooks/session.ts'
import { Button } from '../../../parts/button.tsx'
import { CopyAs } from '../../../parts/copy/copy-as.tsx'
import { SelectField } from '../../../parts/form/field.tsx'
import { Options } from '../../../parts/form/form.tsx'
import { duration } from '../../../parts/format.ts'

interface TimerProps {
  podId: string
  label: string
  /** Name of the setting, as the buttons show it. */
  noun: string
  /** Durations to choose from, in units of `unitMs`. */
  choices: readonly number[]
  initial: number
  unitMs: number
  isSet: boolean
  /** Update request that sets the duration, milliseconds, or clears it (null). */
  change: (ms: number | null) => ApiBody<'updatePod'>
  said: { set: (ms: number) => string; cleared: string; unset: string }
  /** Current state of the setting. */
  children: ReactNode
}

/** Form that sets or clears a duration after which the pod ends. */
export function Timer({ podId, label, noun, choices, initial, unitMs, isSet, change, said, children }: TimerProps) {
  const { api, may, refresh } = useApi()
  const { isBusy, run } = useAct()
  const [chosen, setChosen] = useState(String(initial))
  const ms = Number(chosen) * unitMs
  const noRight = may('pods:write') ? undefined : 'Your role may view pods but not change them.'
  const send = async (body: ApiBody<'updatePod'>, done: string) => {
    await run(() => api.updatePod({ path: { id: podId }, body }), done)
    await refresh('pods')
  }
  return (
    <div className="flex flex-wrap items-end gap-3">
      <div className="w-36">
        <SelectField label={label} value={chosen} onChange={({ target }) => setChosen(target.value)}>
          <Options of={choices.map((one) => [one, duration(one * unitMs)])} />
        </SelectField>
      </div>
      <Button isBusy={isBusy} disabledReason={noRight} onClick={() => void send(change(ms), said.set(ms))}>
        Set {noun}
      </Button>
      <Button
        isBusy={isBusy}
        disabledReason={noRight ?? (isSet ? undefined : said.unset)}
        onClick={() => void send(change(null), said.cleared)}
      >
        Clear {noun}
      </Button>
      <div className="flex w-full items-center justify-between gap-3">
        <p className="text-soft text-xs">{children}</p>
        <CopyAs call={{ method: 'PATCH', path: `/v2/pods/${podId}`, body: change(ms) }} />
      </div>
    </div>
  )
}
