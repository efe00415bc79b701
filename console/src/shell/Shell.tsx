// The frame around every page: navigation on the left, search above, news and dialogs over it.

import { signal } from "@preact/signals";
import { useEffect, useErrorBoundary } from "preact/hooks";
import icon from "../../icon.svg";
import { partsOf, path } from "../data/address";
import { logOut, session } from "../data/api";
import { language, nextTheme, theme } from "../data/preferences";
import { asError, useResource } from "../data/resource";
import type { Insecure } from "../data/shapes";
import { ActionHost } from "../parts/action";
import { Empty, FailedPage, Loading, PageHead } from "../parts/basics";
import { Icon } from "../parts/Icon";
import { complain, Toasts } from "../parts/toasts";
import { t } from "../words";
import { KeyHelp, watchKeys } from "./keys";
import { LogIn } from "./LogIn";
import { placeOf, placesOfRole } from "./pages";
import { SearchBox } from "./SearchBox";

const isMenuOpen = signal(false);

export function Shell() {
  useEffect(watchKeys, []);
  useEffect(() => {
    isMenuOpen.value = false;
  }, [path.value]);
  const own = session.value;
  if (own?.login_needed && own.role === null) {
    return (
      <>
        <LogIn />
        <Toasts />
      </>
    );
  }
  if (own === null) {
    return (
      <>
        <Loading />
        <Toasts />
      </>
    );
  }
  return (
    <div class={`shell ${isMenuOpen.value ? "menu-open" : ""}`}>
      <a class="skip" href="#main">
        {t("Skip to the page")}
      </a>
      <Navigation />
      <TopBar />
      <InsecureBanner />
      <main id="main" tabIndex={-1}>
        <CurrentPage />
      </main>
      <Toasts />
      <ActionHost />
      <KeyHelp />
    </div>
  );
}

const INSECURE_EVERY_MS = 60_000;

function InsecureBanner() {
  const { value } = useResource<Insecure>("/api/insecure", INSECURE_EVERY_MS);
  if (!value || value.servers.length === 0) return null;
  return (
    <div class="insecure" role="alert">
      <Icon name="warning" />
      <p>
        <strong>{t("INSECURE: open to everybody")}</strong>{" "}
        {t("{servers} can be reached from other machines, and asks nobody who it is.", {
          servers: value.servers.join(", "),
        })}{" "}
        {t("Set authenticationEnabled=true, and leave insecure out.")}
      </p>
    </div>
  );
}

function CurrentPage() {
  const place = placeOf(path.value);
  const parts = partsOf(path.value);
  const [broken, forget] = useErrorBoundary();
  useEffect(forget, [path.value]);
  const title = [parts.at(-1), place ? t(place.name) : null, "Aerobee"].filter(Boolean).join(" · ");
  useEffect(() => {
    document.title = title;
  }, [title]);
  if (broken) return <FailedPage error={asError(broken)} />;
  if (place && parts.length === 0) return <place.page parts={parts} />;
  if (place?.detail && parts.length === place.detail.parts) {
    const Detail = place.detail.page;
    // Another thing is another page: nothing of the former one is kept.
    return <Detail key={path.value} parts={parts} />;
  }
  return (
    <>
      <PageHead title={t("There is no such page")} />
      <Empty icon="search" title={t("Nothing found")}>
        <a href="/">{t("Overview")}</a>
      </Empty>
    </>
  );
}

function Navigation() {
  const here = placeOf(path.value);
  return (
    <nav class="navigation" aria-label={t("Pages")}>
      <a class="brand" href="/">
        <img src={icon} alt="" width="26" height="26" />
        <span>Aerobee</span>
      </a>
      <ul>
        {placesOfRole().map((place) => (
          <li key={place.path}>
            <a
              href={`/${place.path}`}
              class={here === place ? "here" : ""}
              aria-current={here === place ? "page" : undefined}
            >
              <Icon name={place.icon} />
              <span>{t(place.name)}</span>
              <kbd aria-hidden="true">g {place.key}</kbd>
            </a>
          </li>
        ))}
      </ul>
      <p class="navigation-foot">
        {session.value?.clusters.join(", ")}
        <br />
        {session.value?.name_servers.join(", ")}
        <br />
        {t("version {version}", { version: session.value?.version ?? "" })}
      </p>
    </nav>
  );
}

const THEME_NAMES = { system: "Colours of the system", light: "Light", dark: "Dark" } as const;

function TopBar() {
  const own = session.value;
  return (
    <header class="top-bar">
      <button
        type="button"
        class="icon-button menu-button"
        aria-label={t("Pages")}
        aria-expanded={isMenuOpen.value}
        onClick={() => {
          isMenuOpen.value = !isMenuOpen.value;
        }}
      >
        <Icon name="menu" />
      </button>
      <SearchBox />
      <div class="top-tools">
        <button
          type="button"
          class="icon-button"
          title={t(THEME_NAMES[theme.value])}
          aria-label={t("Colours: {theme}", { theme: t(THEME_NAMES[theme.value]) })}
          onClick={nextTheme}
        >
          <Icon name="theme" />
        </button>
        <button
          type="button"
          class="icon-button wide"
          lang={language.value === "en" ? "zh-CN" : "en"}
          onClick={() => {
            language.value = language.value === "en" ? "zh" : "en";
          }}
        >
          {language.value === "en" ? "中文" : "English"}
        </button>
        {own?.user && (
          <button type="button" class="link-button" onClick={() => logOut().catch(complain)}>
            {t("Log out {user}", { user: own.user })}
          </button>
        )}
      </div>
    </header>
  );
}
