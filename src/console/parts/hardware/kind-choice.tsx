const KINDS = ['gpu', 'cpu'] as const

interface KindChoiceProps {
  kind: (typeof KINDS)[number]
  onChange: (kind: (typeof KINDS)[number]) => void
}

/** Choice between GPU and CPU. */
export function KindChoice({ kind, onChange }: KindChoiceProps) {
  return (
    <fieldset className="flex gap-4">
      <legend className="sr-only">GPU or CPU</legend>
      {KINDS.map((one) => (
        <label key={one} className="flex items-center gap-2">
          <input type="radio" name="kind" className="size-4" checked={kind === one} onChange={() => onChange(one)} />
          {one.toUpperCase()}
        </label>
      ))}
    </fieldset>
  )
}
