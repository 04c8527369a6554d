/* SPDX-License-Identifier: BSD-3-Clause */
/* Unit test of the form of diagnostics. */
#include "base/diagnostic.h"

#include <string.h>

#include "base/check.h"
#include "base/err.h"

static void test_id(void)
{
    CHECK_INT(diagnostic_id("E0215: text"), 215);
    CHECK_INT(diagnostic_id("E9999: "), 9999);
    CHECK(!diagnostic_id("") && !diagnostic_id("E") && !diagnostic_id("E021: x") && !diagnostic_id("E02157: x") &&
          !diagnostic_id("E0215 text") && !diagnostic_id(" E0215: "));
}

static void expect_site(const char *text, const char *site, const char *expected)
{
    char out[64];

    diagnostic_add_site(text, site, out, sizeof out);
    if (strcmp(out, expected))
        fprintf(stderr, "came '%s', expected '%s'\n", out, expected);
    CHECK(!strcmp(out, expected));
}

static void test_site(void)
{
    expect_site("E0215: MPI_Recv: got 5", "a.c:8", "E0215: MPI_Recv at a.c:8: got 5");
    expect_site("MPI_Recv: got 5", "a.c:8", "MPI_Recv at a.c:8: got 5");
    expect_site("E0215: MPI_Recv: got 5", NULL, "E0215: MPI_Recv: got 5");
    expect_site("E0215: got MPI_X: 5", "a.c:8", "E0215: got MPI_X: 5");
    expect_site("MPI_Recv got: 5", "a.c:8", "MPI_Recv got: 5");
    expect_site("MPI_", "a.c:8", "MPI_");
    expect_site("", "a.c:8", "");
    expect_site("MPI_Recv: 0123456789012345678901234567890123456789", "a_long_name.c:8888",
                "MPI_Recv at a_long_name.c:8888: 0123456789012345678901234567890");
}

static void test_remedy(void)
{
    CHECK(diagnostic_remedy(101) && strstr(diagnostic_remedy(101), "--help"));
    CHECK(!diagnostic_remedy(0) && !diagnostic_remedy(100) && !diagnostic_remedy(9999));
}

/* The id is that of the place, or of the class, and not part of the text. */
static void test_err(void)
{
    char text[ERR_TEXT_SIZE];
    const int with_id = err(MPI_ERR_OTHER, "E0310: number %d", 5), without = err(MPI_ERR_TAG, "number %d", 6);

    CHECK_INT(err_id(with_id), 310);
    CHECK_INT(err_class(with_id), MPI_ERR_OTHER);
    err_text(with_id, text, sizeof text);
    CHECK(!strcmp(text, "number 5"));
    CHECK_INT(err_id(without), DIAGNOSTIC_CLASS + MPI_ERR_TAG);
    CHECK_INT(err_id(err_prefix(with_id, "MPI_X")), 310);
    CHECK_INT(err_id(MPI_ERR_TRUNCATE), DIAGNOSTIC_CLASS + MPI_ERR_TRUNCATE);
    CHECK_INT(err_id(MPI_ERR_LASTCODE + 1), DIAGNOSTIC_USER_CODE);
    for (int i = 0; i < ERR_SLOTS; i++)
        err(MPI_ERR_COUNT, "E0311: text %d", i);
    CHECK_INT(err_id(with_id), DIAGNOSTIC_CLASS + MPI_ERR_OTHER); /* overwritten */
}

int main(void)
{
    test_id();
    test_site();
    test_remedy();
    test_err();
    return 0;
}
