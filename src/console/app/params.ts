import { useParams } from '@tanstack/react-router'

/** A part of the address that the page's route names, such as the `id` of `/console/pods/$id`. */
export function useParam(name: string): string {
  const params: Record<string, string | undefined> = useParams({ strict: false })
  const value = params[name]
  if (value === undefined) throw new Error(`the address of this page has no ${name}`)
  return value
}
