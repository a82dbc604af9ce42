/** Error for a form as a whole; renders nothing if there is none. */
export function Refusal({ text }: { text: string | null }) {
  if (text === null) return null
  return (
    <p role="alert" className="bg-bad-bg text-bad rounded-md p-3">
      {text}
    </p>
  )
}
