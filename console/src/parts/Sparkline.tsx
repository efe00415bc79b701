// A line without axes: the course of a figure beside its value.

const WIDTH = 120;
const HEIGHT = 28;

export function Sparkline({ values }: { values: (number | null)[] }) {
  const known = values.filter((value) => value !== null);
  const most = Math.max(...known, 1e-9);
  const step = WIDTH / Math.max(values.length - 1, 1);
  const points = values
    .map((value, index) =>
      value === null
        ? null
        : `${(index * step).toFixed(1)},${(HEIGHT - 2 - (value / most) * (HEIGHT - 4)).toFixed(1)}`,
    )
    .filter((point) => point !== null);
  return (
    <svg
      class="sparkline"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {points.length > 1 && <polyline points={points.join(" ")} />}
    </svg>
  );
}
