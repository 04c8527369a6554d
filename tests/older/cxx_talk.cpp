/* SPDX-License-Identifier: BSD-3-Clause */
/* The C++ bindings of MPI 2.2 (mpi_cxx.h): messages, requests, collectives, operators, communicators, topologies. */
#include <sys/param.h> /* has macros MIN and MAX, as programs do */

#include "cxx_test.h"

namespace {

int rank, ranks, next, prev;

void messages()
{
    MPI::Status status;
    int out[3] = { rank, 2 * rank, 3 * rank }, in[3];

    MPI::Request sent = MPI::COMM_WORLD.Isend(out, 3, MPI::INT, next, 7);
    MPI::COMM_WORLD.Probe(prev, MPI::ANY_TAG, status);
    CHECK(status.Get_tag() == 7 && status.Get_source() == prev && status.Get_count(MPI::INT) == 3);
    MPI::COMM_WORLD.Recv(in, 3, MPI::INT, MPI::ANY_SOURCE, 7, status);
    sent.Wait();
    CHECK(sent == MPI::REQUEST_NULL && in[2] == 3 * prev && status.Get_error() == MPI::SUCCESS);

    MPI::COMM_WORLD.Sendrecv(out, 2, MPI::INT, next, 1, in, 3, MPI::INT, prev, 1, status);
    CHECK(status.Get_elements(MPI::INT) == 2 && in[1] == 2 * prev && !status.Is_cancelled());
    CHECK(!MPI::COMM_WORLD.Iprobe(MPI::ANY_SOURCE, 99));
    MPI::COMM_WORLD.Send(out, 1, MPI::INT, MPI::PROC_NULL, 1);
}

void requests()
{
    MPI::Request both[2];
    MPI::Prequest again[2];
    MPI::Status statuses[2];
    int out = 10 * rank, in = -1, indices[2];

    both[0] = MPI::COMM_WORLD.Irecv(&in, 1, MPI::INT, prev, 2);
    both[1] = MPI::COMM_WORLD.Issend(&out, 1, MPI::INT, next, 2);
    MPI::Request::Waitall(2, both, statuses);
    CHECK(in == 10 * prev && statuses[0].Get_source() == prev);
    CHECK(MPI::Request::Testall(2, both));
    CHECK(MPI::Request::Waitany(2, both) == MPI::UNDEFINED);

    again[0] = MPI::COMM_WORLD.Recv_init(&in, 1, MPI::INT, prev, 3);
    again[1] = MPI::COMM_WORLD.Send_init(&out, 1, MPI::INT, next, 3);
    for (int round = 0; round < 3; round++) {
        out = 100 * round + rank;
        MPI::Prequest::Startall(2, again);
        for (int left = 2; left > 0;)
            left -= MPI::Request::Waitsome(2, again, indices);
        CHECK(in == 100 * round + prev);
    }
    again[0].Start();
    again[0].Cancel();
    again[0].Wait(statuses[0]);
    CHECK(statuses[0].Is_cancelled());
    again[0].Free();
    again[1].Free();
    CHECK(again[1] == MPI::REQUEST_NULL);
}

void multiply(const void *in, void *inout, int len, const MPI::Datatype &datatype)
{
    CHECK(datatype == MPI::INT);
    for (int i = 0; i < len; i++)
        static_cast<int *>(inout)[i] *= static_cast<const int *>(in)[i];
}

void keep_last(const void *in, void *inout, int len, const MPI::Datatype &)
{
    (void)in, (void)inout, (void)len;
}

void collectives()
{
    int value = rank + 1, sum = 0, all[64], factorial = 1, got;
    bool is_here = rank == ranks - 1, is_anywhere = false;
    MPI::Op product, last;

    MPI::COMM_WORLD.Barrier();
    MPI::COMM_WORLD.Allreduce(&value, &sum, 1, MPI::INT, MPI::SUM);
    CHECK(sum == ranks * (ranks + 1) / 2);
    MPI::COMM_WORLD.Allreduce(&is_here, &is_anywhere, 1, MPI::BOOL, MPI::LOR);
    CHECK(is_anywhere);
    MPI::COMM_WORLD.Allgather(&value, 1, MPI::INT, all, 1, MPI::INT);
    CHECK(all[ranks - 1] == ranks);
    all[rank] = value;
    MPI::COMM_WORLD.Allgather(MPI::IN_PLACE, 0, MPI::INT, all, 1, MPI::INT);
    got = rank ? 0 : 42;
    MPI::COMM_WORLD.Bcast(&got, 1, MPI::INT, 0);
    CHECK(got == 42);

    product.Init(multiply, true);
    last.Init(keep_last, false);
    CHECK(product.Is_commutative() && !last.Is_commutative());
    MPI::COMM_WORLD.Allreduce(&value, &got, 1, MPI::INT, product);
    for (int i = 1; i <= ranks; i++)
        factorial *= i;
    CHECK(got == factorial);
    MPI::COMM_WORLD.Allreduce(&value, &got, 1, MPI::INT, last);
    CHECK(got == ranks);
    MPI::COMM_WORLD.Scan(&value, &got, 1, MPI::INT, MPI::MAX);
    CHECK(got == value);
    product.Free();
    last.Free();
    CHECK(product == MPI::OP_NULL);
}

void communicators()
{
    const int dims[1] = { ranks };
    const bool periods[1] = { true };
    int size[1], place[1], from, to;
    bool is_ring[1] = { false };

    MPI::Intracomm half = MPI::COMM_WORLD.Split(rank % 2, -rank);
    CHECK(half.Get_size() == (ranks + 1 - rank % 2) / 2);
    half.Free();
    CHECK(half == MPI::COMM_NULL);

    MPI::Cartcomm ring = MPI::COMM_WORLD.Create_cart(1, dims, periods, false);
    ring.Get_topo(1, size, is_ring, place);
    ring.Shift(0, 1, from, to);
    CHECK(is_ring[0] && size[0] == ranks && place[0] == rank && from == prev && to == next);
    CHECK(ring.Get_topology() == MPI::CART && ring.Get_dim() == 1 && ring.Get_cart_rank(place) == rank);

    MPI::Intracomm &same = ring.Clone();
    CHECK(dynamic_cast<MPI::Cartcomm *>(&same) && MPI::Comm::Compare(same, ring) == MPI::CONGRUENT);
    same.Free();
    delete &same;
    ring.Free();

    MPI::Group group = MPI::COMM_WORLD.Get_group(), first;
    const int zero = 0;
    first = group.Incl(1, &zero);
    CHECK(first.Get_rank() == (rank ? MPI::UNDEFINED : 0) && MPI::Group::Compare(first, group) == (ranks > 1 ? MPI::UNEQUAL : MPI::IDENT));
    MPI::Intracomm alone = MPI::COMM_WORLD.Create(first);
    CHECK((alone == MPI::COMM_NULL) == (rank != 0));
    if (alone != MPI::COMM_NULL)
        alone.Free();
    first.Free();
    group.Free();
}

} // namespace

int main(int argc, char **argv)
{
    MPI::Init(argc, argv);
    rank = MPI::COMM_WORLD.Get_rank();
    ranks = MPI::COMM_WORLD.Get_size();
    next = (rank + 1) % ranks;
    prev = (rank + ranks - 1) % ranks;
    messages();
    requests();
    collectives();
    communicators();
    MPI::Finalize();
    return MPI::Is_finalized() ? 0 : 1;
}
