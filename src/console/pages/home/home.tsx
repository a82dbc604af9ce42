import { Page } from '../../parts/page.tsx'

export function HomePage() {
  return (
    <Page title="Home">
      <p>Everything that runs.</p>
    </Page>
  )
}
