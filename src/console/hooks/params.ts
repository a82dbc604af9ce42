import { useParams, useRouter } from '@tanstack/react-router'

/** Path parameter of the page's route, such as the `id` of `/console/pods/$id`. Throws an `Error` if the route has none of this name. */
export function useParam(name: string): string {
  const params: Record<string, string | undefined> = useParams({ strict: false })
  const value = params[name]
  if (value === undefined) throw new Error(`the address of this page has no ${name}`)
  return value
}

/** Returns a function that opens an address of the console. */
export function useGo(): (to: string) => void {
  const router = useRouter()
  // `paths` builds all addresses; the types of the router require a literal.
  return (to) => void router.navigate({ to } as object)
}
