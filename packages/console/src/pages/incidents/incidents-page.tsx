export function IncidentsPage() {
  return <h1>Incidents</h1>;
}
